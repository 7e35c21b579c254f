#include "decoder/selection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "decoder/on_gpu.h"
#include "decoder/pointwise.h"
#include "kernels/pages.h"
#include "kernels/selection.h"

namespace headroom::engine {
namespace {

kernels::SelectShape shape_of(const at::Tensor& q, const at::Tensor& means, const PageChoice& c) {
    return {q.size(0), q.size(1), means.size(1), q.size(2), means.size(0),
            c.block,   c.budget,  c.sink,        c.local};
}

// [blocks, P] votes; scores [g, rows, P] of some queries of a block at a time.
void vote(const at::Tensor& q, const at::Tensor& means, int64_t block, at::Tensor votes,
          const at::Tensor& scores) {
    const int64_t T = q.size(0), groups = means.size(1), pages = means.size(0);
    const at::Tensor vectors = means.to(votes.scalar_type()).permute({1, 2, 0});
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(2)));
    for (int64_t b = 0; b < votes.size(0); ++b) {
        votes[b].zero_();
        const int64_t end = std::min(T, (b + 1) * block);
        for (int64_t first = b * block; first < end; first += kScoredQueries) {
            const int64_t rows = std::min(kScoredQueries, end - first);
            const at::Tensor queries = q.narrow(0, first, rows)
                                           .to(votes.scalar_type())
                                           .unflatten(1, {groups, -1})
                                           .sum(2)
                                           .to(q.scalar_type())
                                           .to(votes.scalar_type())
                                           .permute({1, 0, 2});
            at::Tensor s = scores.narrow(0, 0, groups * rows * pages).view({groups, rows, pages});
            at::bmm_out(s, queries, vectors);
            s.mul_(scale).sub_(s.amax(-1, true)).exp_();
            s.div_(s.sum(-1, true));
            votes[b].add_(s.sum(at::IntArrayRef{0, 1}));
        }
    }
}

}  // namespace

void page_means(const at::Tensor& k, int64_t page, at::Tensor out) {
    const int64_t T = k.size(0), columns = k.size(1) * k.size(2), whole = T / page;
    TORCH_CHECK(page > 0 && out.size(0) == (T + page - 1) / page, "page means: ", out.size(0), " pages for ",
                T, " keys in pages of ", page);
    if (rows_on_gpu(k) && on_gpu(out)) {
        kernels::page_means(bits(k), bits(out), T, columns, k.stride(0), page, current_stream());
        return check_launch("page_means");
    }
    const at::ScalarType type = sum_type(k.scalar_type());
    if (whole > 0)
        out.narrow(0, 0, whole)
            .copy_(k.narrow(0, 0, whole * page).to(type).unflatten(0, {whole, page}).mean(1));
    if (whole * page < T) out[whole].copy_(k.narrow(0, whole * page, T - whole * page).to(type).mean(0));
}

int64_t select_scratch_bytes(int64_t tokens, int64_t groups, int64_t pages, int64_t block) {
    return kernels::SelectShape{tokens, groups, groups, 0, pages, block, 0, 0, 0}.scratch_bytes();
}

void select_pages(const at::Tensor& q, const at::Tensor& means, const PageChoice& choice, at::Tensor scratch,
                  at::Tensor selection) {
    const kernels::SelectShape shape = shape_of(q, means, choice);
    const int64_t chosen = std::min(shape.budget, shape.pages);
    TORCH_CHECK(
        shape.block > 0 && selection.scalar_type() == at::kInt && selection.is_contiguous() &&
            selection.dim() == 2 && selection.size(0) == shape.blocks() && selection.size(1) == chosen,
        "select_pages: selection is ", selection.sizes(), ", not int32 ", shape.blocks(), " x ", chosen);
    TORCH_CHECK(shape.sink + shape.local <= shape.budget, "select_pages: ", shape.sink, " sink and ",
                shape.local, " local pages in a budget of ", shape.budget);
    if (chosen == 0) return;
    if (chosen == shape.pages) {
        at::Tensor first = selection[0];
        at::arange_out(first, shape.pages);
        if (shape.blocks() > 1) selection.narrow(0, 1, shape.blocks() - 1).copy_(first.expand({1, chosen}));
        return;
    }
    const at::ScalarType type = sum_type(q.scalar_type());
    const bool planned = type == at::kFloat;
    TORCH_CHECK(!planned || scratch.nbytes() >= static_cast<size_t>(shape.scratch_bytes()),
                "select_pages: scratch of ", scratch.nbytes(), " bytes, not ", shape.scratch_bytes());
    if (rows_on_gpu(q) && on_gpu(means) && shape.dim % 16 == 0 && shape.dim <= kernels::kMostDim) {
        kernels::select_pages(bits(q), q.stride(0), bits(means), shape, scratch.data_ptr(),
                              selection.data_ptr<int32_t>(), current_stream());
        return check_launch("select_pages");
    }
    const int64_t votes_size = shape.blocks() * shape.pages, floats = shape.scratch_bytes() / 4;
    const at::Tensor space =
        planned ? scratch.narrow(0, 0, floats * 4).view(at::kFloat) : at::empty({floats}, q.options());
    const at::Tensor votes = space.narrow(0, 0, votes_size).view({shape.blocks(), shape.pages});
    vote(q, means, shape.block, votes, space.narrow(0, votes_size, floats - votes_size));
    if (!planned && scratch.nbytes() >= static_cast<size_t>(votes_size) * 4)
        scratch.narrow(0, 0, votes_size * 4).view(at::kFloat).copy_(votes.flatten());
    const at::Tensor ranked = votes.clone();
    ranked.narrow(1, 0, shape.sink).fill_(std::numeric_limits<double>::infinity());
    ranked.narrow(1, shape.pages - shape.local, shape.local).fill_(std::numeric_limits<double>::infinity());
    const at::Tensor best = std::get<1>(at::sort(ranked, true, 1, true)).narrow(1, 0, chosen);
    selection.copy_(std::get<0>(best.sort(1)));
}

void choose_with_room(const at::Tensor& votes, const PageChoice& choice, WaitingPages& waiting,
                      at::Tensor selection) {
    const int64_t pages = votes.size(1), picks = selection.size(1);
    TORCH_CHECK(votes.is_contiguous() && selection.is_contiguous() && selection.size(0) == votes.size(0) &&
                    picks == choice.budget && picks < pages,
                "choose_with_room: ", selection.sizes(), " of votes ", votes.sizes());
    // Votes order as their bits do; ties go to the lower page.
    const auto key_of = [](float vote, int64_t page) {
        return static_cast<uint64_t>(std::bit_cast<uint32_t>(vote)) << 32 |
               static_cast<uint32_t>(~static_cast<uint32_t>(page));
    };
    const auto page_of = [](uint64_t key) { return static_cast<int64_t>(~key & 0xffffffffu); };
    std::vector<uint64_t> keys(static_cast<size_t>(pages));
    float guess = 0;  // votes that a page of this block needs at least, going by the block before
    for (int64_t b = 0; b < votes.size(0); ++b) {
        const float* const of = votes.const_data_ptr<float>() + b * pages;
        int32_t* const out = selection.data_ptr<int32_t>() + b * picks;
        int64_t chosen = 0;
        const auto take = [&](int64_t page) {
            out[chosen++] = static_cast<int32_t>(page);
            waiting.select(page);
        };
        // Of the pages for which `wanted`, those with most votes that have room (or all the same).
        const auto take_best = [&](const auto& wanted, bool room) {
            auto first = keys.begin(), end = first;
            for (int64_t p = choice.sink; p < pages - choice.local; ++p) {
                *end = key_of(of[p], p);
                end += wanted(p) ? 1 : 0;
            }
            // As many at a time as are still to be chosen: what is chosen may leave another without room.
            while (chosen < picks && first != end) {
                const auto last = first + std::min(picks - chosen, end - first);
                std::nth_element(first, last - 1, end, std::greater<>());
                std::sort(first, last, std::greater<>());
                for (; first != last; ++first) {
                    if (!room || waiting.has_room(page_of(*first))) take(page_of(*first));
                }
            }
        };
        for (int64_t p = 0; p < choice.sink; ++p) take(p);
        for (int64_t p = pages - choice.local; p < pages; ++p) take(p);
        take_best([&](int64_t p) { return waiting.has_room(p) & (of[p] >= guess); }, true);
        if (chosen < picks) take_best([&](int64_t p) { return waiting.has_room(p) & (of[p] < guess); }, true);
        if (chosen < picks) {
            const std::vector<int32_t> with_room(out, out + chosen);
            take_best(
                [&](int64_t p) {
                    return std::find(with_room.begin(), with_room.end(), p) == with_room.end();
                },
                false);
        }
        guess = 0.7f * of[out[picks - 1]];
        std::sort(out, out + picks);
    }
}

}  // namespace headroom::engine
