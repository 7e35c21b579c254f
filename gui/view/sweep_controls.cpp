// What a sweep is asked for: strategies, contexts, begin and cancel.
#include <QBoxLayout>
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>

#include "base/text.h"
#include "gui/model/text.h"
#include "gui/view/sweep_view.h"
#include "strategy/strategy.h"

namespace headroom::gui {

QLayout* SweepView::make_controls() {
    // Two rows: a window of 800 pixels shows them whole.
    auto* rows = new QVBoxLayout;
    rows->setSpacing(4);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    for (const Strategy* s : strategies()) {
        auto* box = new QCheckBox(text_of(s->name()));
        box->setToolTip(text_of(s->summary()));
        box->setChecked(true);
        box->setObjectName(text_of(s->name()));
        box->setIconSize(QSize(30, 16));
        box->setMinimumWidth(60);  // a narrower window cuts names off rather than grow
        boxes_.push_back(box);
        row->addWidget(box);
        connect(box, &QCheckBox::toggled, this, [this] {
            show_points();
            want();
        });
    }
    row->addStretch(1);
    rows->addLayout(row);
    row = new QHBoxLayout;
    row->setSpacing(8);
    const std::pair<QLineEdit*, QString> fields[] = {{from_, tr("&Contexts from")}, {to_, tr("&to")}};
    for (const auto& [edit, words] : fields) {
        auto* label = new QLabel(words);
        label->setBuddy(edit);
        row->addWidget(label);
        edit->setMaximumWidth(90);
        edit->setAlignment(Qt::AlignRight);
        edit->setToolTip(tr("Tokens, such as 64Ki, 100K or 1048576; the contexts between double"));
        row->addWidget(edit);
        connect(edit, &QLineEdit::returnPressed, this, &SweepView::start);
    }
    from_->setObjectName("from");
    from_->setAccessibleName(tr("First context, in tokens"));
    to_->setObjectName("to");
    to_->setAccessibleName(tr("Last context, in tokens"));
    go_->setObjectName("go");
    row->addWidget(go_);
    connect(go_, &QPushButton::clicked, this, &SweepView::stop_or_start);
    progress_->setRange(0, 1000);
    progress_->setMinimumWidth(160);
    progress_->setAccessibleName(tr("Progress of the sweep"));
    QSizePolicy keep = progress_->sizePolicy();
    keep.setRetainSizeWhenHidden(true);
    progress_->setSizePolicy(keep);
    row->addWidget(progress_, 1);
    rows->addLayout(row);
    return rows;
}

std::vector<std::string> SweepView::chosen() const {
    std::vector<std::string> names;
    for (const QCheckBox* box : boxes_) {
        if (box->isChecked()) names.push_back(box->objectName().toStdString());
    }
    return names;
}

std::vector<Tokens> SweepView::contexts() {
    const auto read = [](const QLineEdit* edit, const char* where) -> Result<Tokens> {
        HEADROOM_TRY(const Tokens t, parse_tokens(edit->text().trimmed().toStdString(), where));
        if (t.count() < 1 || t.count() > kMaxContext)
            return fail(where, edit->text().toStdString(), "1 to " + format_integer(kMaxContext) + " tokens");
        return t;
    };
    const Result<Tokens> from = read(from_, "contexts from"), to = read(to_, "contexts to");
    for (const Result<Tokens>* t : {&from, &to}) {
        if (*t) continue;
        failure_ = QString::fromStdString(t->error().text());
        return {};
    }
    if (*to < *from) {
        failure_ = tr("The contexts end before they begin: %1 to %2").arg(from_->text(), to_->text());
        return {};
    }
    return doubling(*from, *to);
}

void SweepView::stop_or_start() {
    if (run_.busy())
        run_.cancel();
    else
        start();
}

void SweepView::show_state() {
    go_->setText(run_.busy() ? tr("Cancel") : tr("Sweep"));
    go_->setToolTip(run_.busy() ? tr("Stop; the points that are there stay")
                                : tr("Work out all points again"));
    progress_->setVisible(run_.busy());
    if (run_.busy()) progress_->setValue(0);
    if (chosen().empty()) failure_ = tr("No strategy is chosen.");
    complaint_->setText(failure_);
    complaint_->setVisible(!failure_.isEmpty());
    note_->setText(tr("Open in the other views: %1.").arg(document().title()));
    note_->setVisible(opened_here_);
}

}  // namespace headroom::gui
