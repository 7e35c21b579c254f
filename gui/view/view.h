// One way to look at what is open. A view draws what the Document and the Focus say and changes nothing else.
//
// Contract: a view works whatever is open, and says in words what it lacks ("Open a measured run to
// compare"). Nothing it does in the window's thread takes longer than a frame; what takes longer is a Job.
#pragma once

#include <QList>
#include <QWidget>

#include "gui/model/document.h"
#include "gui/model/focus.h"
#include "gui/paint/palette.h"

class QPainter;

namespace headroom::gui {

// A key and what it does, for the list that `?` shows.
struct KeyHelp {
    QString keys, does;
};

class View : public QWidget {
    Q_OBJECT
public:
    View(const QString& title, Document& document, Focus& focus, QWidget* parent = nullptr);

    const QString& title() const { return title_; }
    // Colours changed (light, dark). The base keeps them and asks for a new picture.
    virtual void set_palette(const Palette& palette);
    const Palette& colours() const { return palette_; }

    // What the view shows as a table (a header line first), as it stands; empty: there is nothing yet.
    virtual QByteArray csv() const = 0;
    // The view as a picture of `size` at most, for PNG and SVG; as on the screen unless a view does better.
    virtual void draw(QPainter& painter);
    virtual QSize picture_size() const { return size(); }
    // Whether there is anything to export.
    virtual bool has_content() const = 0;
    // Whether some of what it shows is still being worked out (an export waits for it).
    virtual bool busy() const { return false; }
    virtual QList<KeyHelp> keys() const { return {}; }

Q_SIGNALS:
    // Another view shows what comes next, by its id: "compare" after a run.
    void view_wanted(const QString& id);

protected:
    Document& document() const { return document_; }
    Focus& focus() const { return focus_; }

private:
    QString title_;
    Document& document_;
    Focus& focus_;
    Palette palette_;
};

}  // namespace headroom::gui
