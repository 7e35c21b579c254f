// A draw list that a worker thread makes anew whenever what it shows changes. Until the new one is there the
// old one is painted, stretched to the new range.
//
// Unlike a bare Job it never starves: while a list is being made, only the newest wish waits, and what
// arrives is shown even if a newer one is being made.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "gui/model/job.h"

namespace headroom::gui {

template <class List>
class Drawn {
public:
    // `arrived` is called in the window's thread whenever there is a new list.
    explicit Drawn(std::function<void()> arrived) : arrived_(std::move(arrived)) {}

    // `make` runs on a worker thread and must own all that it reads.
    void want(std::function<List()> make) {
        if (job_.busy()) {
            next_ = std::move(make);
        } else {
            start(std::move(make));
        }
    }
    // In this thread, at once: for pictures that are exported.
    void make_now(const std::function<List()>& make) {
        next_ = std::nullopt;
        job_.cancel();
        list_ = std::make_shared<const List>(make());
    }
    void clear() {
        next_ = std::nullopt;
        job_.cancel();
        list_ = nullptr;
    }
    // Null: none yet.
    const List* get() const { return list_.get(); }
    bool busy() const { return job_.busy(); }

private:
    void start(std::function<List()> make) {
        job_.start<List>([make = std::move(make)](const Progress&) -> Result<List> { return make(); },
                         [this](Result<List> made) {
                             if (made) list_ = std::make_shared<const List>(std::move(*made));
                             if (next_) start(*std::exchange(next_, std::nullopt));
                             arrived_();
                         });
    }

    std::function<void()> arrived_;
    std::shared_ptr<const List> list_;
    std::optional<std::function<List()>> next_;
    Job job_;
};

}  // namespace headroom::gui
