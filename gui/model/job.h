// Work on a worker thread, for the window: only the newest of a kind counts.
//
// Contract:
//  - start() cancels the work before; its result is thrown away even if it comes.
//  - `work` runs on another thread and must not touch the window: it gets values by copy and polls its
//  JobState.
//  - `done` runs on the thread that owns the Job, and only for the newest work that was not cancelled.
//  - The destructor cancels and waits.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "base/result.h"
#include "search/answer.h"

namespace headroom::gui {

// What a running work knows of its job.
class JobState {
public:
    bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
    void cancel() { cancelled_.store(true, std::memory_order_relaxed); }

private:
    std::atomic<bool> cancelled_{false};
};

class Job : public QObject {
    Q_OBJECT
public:
    explicit Job(QObject* parent = nullptr);
    ~Job() override;

    bool busy() const { return state_ != nullptr; }
    void cancel();

    // `work(progress)` -> Result<T>; progress(text, share) is false once the job is cancelled.
    template <class T>
    void start(std::function<Result<T>(const Progress&)> work, std::function<void(Result<T>)> done) {
        const std::shared_ptr<JobState> state = begin();
        pool_.start([this, state, work = std::move(work), done = std::move(done)] {
            if (state->cancelled()) return;
            auto result = std::make_shared<Result<T>>(work(progress_of(state)));
            // To the thread of this object, which outlives the pool's work (destructor).
            QMetaObject::invokeMethod(
                this,
                [this, state, result, done] {
                    if (state_ != state) return;
                    end();
                    done(std::move(*result));
                },
                Qt::QueuedConnection);
        });
    }

Q_SIGNALS:
    void busy_changed(bool busy);
    // Of the newest work; share is negative where unknown. At most some 20 a second.
    void progressed(const QString& text, double share);

private:
    std::shared_ptr<JobState> begin();
    void end();
    Progress progress_of(const std::shared_ptr<JobState>& state);

    QThreadPool pool_;
    std::shared_ptr<JobState> state_;  // of the newest work; null: none
};

}  // namespace headroom::gui
