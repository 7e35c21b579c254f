// The first thing that a newcomer sees: what this is, the shipped scenarios, what was open last.
#pragma once

#include <QWidget>
#include <filesystem>

class QListWidget;

namespace headroom::gui {

class Welcome : public QWidget {
    Q_OBJECT
public:
    explicit Welcome(QWidget* parent = nullptr);
    void set_recent(const QStringList& files);

Q_SIGNALS:
    void chosen(const QString& file);
    void open_asked();

private:
    QListWidget *scenarios_, *recent_;
};

}  // namespace headroom::gui
