// Which pages each block of a chunk's queries attends: made, copied to the host, read there, and recorded.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "decoder/selection.h"
#include "program/selection_scratch.h"
#include "run/step_state.h"

namespace headroom::engine {

int64_t Executor::State::past_pages() const {
    return chunk_first() / plan.decisions.page.count();
}
int64_t Executor::State::block() const {
    return std::min(plan.decisions.attention.block, rows_);
}
int64_t Executor::State::picks() const {
    return std::min(plan.decisions.attention.budget, past_pages());
}

at::Tensor Executor::State::device_selection() const {
    return view("selections", {ceil_div(rows_, block()), picks()}, at::kInt,
                selection_layout(plan).offset(layer_, chunk_));
}

at::Tensor Executor::State::host_selection() const {
    return at::from_blob(data(need("host selections")) + selection_layout(plan).offset(layer_, chunk_),
                         {ceil_div(rows_, block()), picks()}, at::kInt);
}

void Executor::State::settle_selection() {
    if (selection_copy_ != kNone) streams->wait_for(selection_copy_);
    selection_copy_ = kNone;
    choose_pending();
}

at::Tensor Executor::State::selection() {
    settle_selection();
    return host_selection();
}

// Between a selection and what needs it the host hands other ops over.
void Executor::State::await_selection(OpId id) {
    if (selection_copy_ == kNone) return;
    const OpKind kind = program.ops[id].kind;
    if (kind == OpKind::load_pages || kind == OpKind::load_page_gradients || kind == OpKind::gather_pages)
        settle_selection();
}

// ---- a limit of waiting pages ----

// Layers whose gradients stay on the device share one limit, the others another.
void Executor::State::make_waiting_pages() {
    const Decisions& d = plan.decisions;
    waiting_pages_ = {};
    to_choose_ = {};
    if (!d.attention.sparse || d.attention.waiting == 0 || plan.chunks() < 2) return;
    const int64_t layers = plan.model.layer_count();
    std::array<int64_t, 2> limit{};
    for (int64_t l = 0; l < layers; ++l) {
        if (selects_pages(plan, l)) limit[limit_of(l)] += d.attention.waiting;
    }
    for (size_t i = 0; i < limit.size(); ++i) {
        if (limit[i] > 0)
            waiting_pages_[i] =
                WaitingPages(limit[i], layers, plan.chunks(), d.chunk.count() / d.page.count());
    }
}

size_t Executor::State::limit_of(int64_t layer) const {
    const Residency& home = plan.decisions.kv_gradient_residency;
    return Plan::device_layer(home, layer, plan.model.layer_count()) ? 0 : 1;
}

// Of the chunk and layer whose votes (or, without a choice, pages) came to the host last.
void Executor::State::choose_pending() {
    const ToChoose pending = std::exchange(to_choose_, ToChoose{});
    if (pending.chunk < 0) return;
    const std::tuple now{chunk_, layer_, rows_};
    chunk_ = pending.chunk;
    layer_ = pending.layer;
    rows_ = plan.chunk_tokens(chunk_);
    WaitingPages& waiting = waiting_pages_[limit_of(layer_)];
    waiting.enter(chunk_, layer_);
    if (limits_waiting(plan, past_pages())) {
        const Attention& a = plan.decisions.attention;
        const at::Tensor votes =
            at::from_blob(data(need("host votes")), {ceil_div(rows_, block()), past_pages()}, at::kFloat);
        choose_with_room(votes, {block(), a.budget, a.sink, a.local}, waiting, host_selection());
    } else {
        for (int64_t p = 0; p < past_pages(); ++p) waiting.select(p);
    }
    std::tie(chunk_, layer_, rows_) = now;
}

namespace {

// Ascending.
std::vector<uint32_t> distinct(const at::Tensor& rows) {
    const int32_t* first = rows.const_data_ptr<int32_t>();
    std::vector<uint32_t> pages(first, first + rows.numel());
    std::sort(pages.begin(), pages.end());
    pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    return pages;
}

}  // namespace

std::vector<uint32_t> Executor::State::selected_pages() {
    return distinct(selection());
}

at::Tensor Executor::State::page_vectors(int64_t first, int64_t count) const {
    const int64_t pages = ceil_div(plan.context.count(), plan.decisions.page.count());
    return view("page vectors", {count, plan.model.kv_heads, plan.model.head_dim}, type_,
                (layer_ * pages + first) * plan.model.kv_size() * element());
}

void Executor::State::page_means_op() {
    const int64_t page = plan.decisions.page.count();
    page_means(layer_views().k, page, page_vectors(past_pages(), ceil_div(rows_, page)));
}

// The two ops of a selection, scores and votes, are one call: the second's.
void Executor::State::select_op() {
    if (before_ != OpKind::select) return;
    const Attention& a = plan.decisions.attention;
    const int64_t bytes = select_scratch_bytes(rows_, plan.model.kv_heads, past_pages(), block());
    select_pages(layer_views().q, page_vectors(0, past_pages()), {block(), a.budget, a.sink, a.local},
                 view("scores", {bytes}, at::kByte), device_selection());
}

Result<void> Executor::State::selection_to_host() {
    if (to_choose_.chunk >= 0) settle_selection();  // of a layer that nothing has asked for yet
    copies_.clear();
    if (limits_waiting(plan, past_pages())) {
        copies_.add(data(need("host votes")), data(need("scores")),
                    ceil_div(rows_, block()) * past_pages() * 4);
    } else {
        const at::Tensor from = device_selection();
        copies_.add(host_selection().data_ptr(), from.data_ptr(), from.numel() * 4);
    }
    HEADROOM_CHECK(issue_copies());
    selection_copy_ = op_;
    if (plan.decisions.attention.waiting > 0) to_choose_ = {chunk_, layer_};
    return {};
}

at::Tensor Executor::State::selected(int64_t chunk, int64_t layer) {
    chunk_ = chunk;
    layer_ = layer;
    rows_ = plan.chunk_tokens(chunk);
    return selection();
}

RecordedSelection Executor::State::recorded() {
    RecordedSelection r;
    const Decisions& d = plan.decisions;
    r.page = d.page.count();
    r.chunk = d.chunk.count();
    r.budget = d.attention.budget;
    r.block = d.attention.block;
    r.layers = plan.model.layer_count();
    r.chunks = plan.chunks();
    r.begin.push_back(0);
    for (int64_t chunk = 0; chunk < r.chunks; ++chunk) {
        for (int64_t layer = 0; layer < r.layers; ++layer) {
            layer_ = layer;
            if (chunk > 0 && selects_pages(plan, layer_)) {
                const std::vector<uint32_t> pages = distinct(selected(chunk, layer));
                r.pages.insert(r.pages.end(), pages.begin(), pages.end());
            }
            r.begin.push_back(static_cast<uint32_t>(r.pages.size()));
        }
    }
    return r;
}

}  // namespace headroom::engine
