#include "gui/model/job.h"

#include <QElapsedTimer>

namespace headroom::gui {

Job::Job(QObject* parent) : QObject(parent) {
    pool_.setMaxThreadCount(
        2);  // the newest need not wait until the one before has seen that it is cancelled
}

Job::~Job() {
    if (state_) state_->cancel();
    pool_.waitForDone();
}

std::shared_ptr<JobState> Job::begin() {
    if (state_) state_->cancel();
    const bool was_busy = busy();
    state_ = std::make_shared<JobState>();
    if (!was_busy) Q_EMIT busy_changed(true);
    return state_;
}

void Job::end() {
    state_ = nullptr;
    Q_EMIT busy_changed(false);
}

void Job::cancel() {
    if (!state_) return;
    state_->cancel();
    end();
}

Progress Job::progress_of(const std::shared_ptr<JobState>& state) {
    constexpr qint64 kPeriod_ms = 50;
    auto since = std::make_shared<QElapsedTimer>();
    return [this, state, since](const std::string& text, double share) {
        if (state->cancelled()) return false;
        if (!since->isValid() || since->elapsed() >= kPeriod_ms) {
            since->start();
            QMetaObject::invokeMethod(
                this,
                [this, state, said = QString::fromStdString(text), share] {
                    if (state_ == state) Q_EMIT progressed(said, share);
                },
                Qt::QueuedConnection);
        }
        return true;
    };
}

}  // namespace headroom::gui
