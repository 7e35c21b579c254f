// A line for a file or folder with a button that looks for one.
#pragma once

#include <QWidget>

class QLineEdit;
class QToolButton;

namespace headroom::gui {

class PathField : public QWidget {
    Q_OBJECT
public:
    enum class Kind { open_file, save_file, folder };
    // `filter`: of the file dialog; `empty`: what an empty line means, shown in grey.
    PathField(Kind kind, const QString& name, const QString& filter, const QString& empty,
              QWidget* parent = nullptr);

    QString path() const;
    void set_path(const QString& path);
    QLineEdit& line() const { return *line_; }

Q_SIGNALS:
    void changed();

private:
    void browse();

    Kind kind_;
    QString name_, filter_;
    QLineEdit* line_;
    QToolButton* button_;
};

}  // namespace headroom::gui
