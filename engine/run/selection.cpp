// Which pages each block of a chunk's queries attends: made, copied to the host, read there, and recorded.
#include <algorithm>

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

at::Tensor Executor::State::selection() {
    if (selection_copy_ != kNone) streams->wait_for(selection_copy_);
    selection_copy_ = kNone;
    return at::from_blob(data(need("host selections")) + selection_layout(plan).offset(layer_, chunk_),
                         {ceil_div(rows_, block()), picks()}, at::kInt);
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
    const at::Tensor from = device_selection();
    copies_.clear();
    copies_.add(data(need("host selections")) + selection_layout(plan).offset(layer_, chunk_),
                from.data_ptr(), from.numel() * 4);
    HEADROOM_CHECK(issue_copies());
    selection_copy_ = op_;
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
