// Everything about the selected op, with links to those it waits for and those that wait for it.
#pragma once

#include <QTextBrowser>

#include "gui/model/step.h"

namespace headroom::gui {

class OpDetails : public QTextBrowser {
    Q_OBJECT
public:
    explicit OpDetails(QWidget* parent = nullptr);

    // kNone, or no step: says how to select one.
    void show_op(StepPtr step, OpId op);
    OpId op() const { return op_; }

Q_SIGNALS:
    void followed(headroom::OpId op);  // a link

protected:
    void changeEvent(QEvent*) override;

private:
    void write();

    StepPtr step_;
    OpId op_ = kNone;
};

}  // namespace headroom::gui
