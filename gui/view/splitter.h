// A splitter whose handles the keyboard reaches: Tab, then the arrow keys; Home and End move one to its ends.
#pragma once

#include <QSplitter>
#include <QString>

namespace headroom::gui {

class Splitter : public QSplitter {
public:
    // `name`: what its handles are called, for those who hear the screen. None of its parts is moved away
    // whole.
    Splitter(Qt::Orientation orientation, const QString& name, QWidget* parent = nullptr);

protected:
    QSplitterHandle* createHandle() override;

private:
    QString name_;
};

}  // namespace headroom::gui
