#include "kernels/choose_pages.h"

namespace headroom::engine::kernels {
namespace {

constexpr int kThreads = 1024;

// Sum over the thread block, known to each thread. `shared`: 32 values that no thread reads or writes until
// the next call but one.
__device__ uint32_t total(uint32_t mine, uint32_t* shared) {
    mine = __reduce_add_sync(0xffffffffu, mine);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = mine;
    __syncthreads();
    return __reduce_add_sync(0xffffffffu, shared[threadIdx.x % 32]);
}

// One thread block per block of queries.
__global__ void __launch_bounds__(kThreads) choose(const BlockVotes v, int32_t* selection) {
    __shared__ uint32_t shared[2][32];
    const int64_t pages = v.pages, sink = v.sink, local = v.local;
    float* mine = v.votes + blockIdx.x * pages;
    for (int64_t p = threadIdx.x; p < pages && v.parts > 1; p += kThreads) {
        float sum = 0;
        for (int part = 0; part < v.parts; ++part)
            sum += v.partial[(static_cast<int64_t>(part) * gridDim.x + blockIdx.x) * pages + p];
        mine[p] = sum;  // read by this thread alone
    }
    const auto key = [&](int64_t p) {
        return p < sink || p >= pages - local ? 0xffffffffu : __float_as_uint(mine[p]);
    };
    uint32_t worst = 0, turn = 0;
    for (int bit = 31; bit >= 0; --bit) {
        const uint32_t tried = worst | 1u << bit;
        uint32_t count = 0;
        for (int64_t p = threadIdx.x; p < pages; p += kThreads) count += key(p) >= tried ? 1 : 0;
        if (total(count, shared[turn++ % 2]) >= v.budget) worst = tried;
    }
    uint32_t above = 0;
    for (int64_t p = threadIdx.x; p < pages; p += kThreads) above += key(p) > worst ? 1 : 0;
    const uint32_t equals = static_cast<uint32_t>(v.budget) - total(above, shared[turn++ % 2]);

    int32_t* out = selection + blockIdx.x * v.budget;
    const uint32_t before = (1u << threadIdx.x % 32) - 1;
    uint32_t above_done = 0, equal_done = 0;
    for (int64_t base = 0; base < pages; base += kThreads) {
        const int64_t p = base + threadIdx.x;
        const bool is_above = p < pages && key(p) > worst, is_equal = p < pages && key(p) == worst;
        const uint32_t aboves = __ballot_sync(0xffffffffu, is_above),
                       equal = __ballot_sync(0xffffffffu, is_equal);
        // Two counts below 2^16 in one word.
        uint32_t* warps = shared[turn++ % 2];
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = __popc(aboves) | __popc(equal) << 16;
        __syncthreads();
        const uint32_t each = warps[threadIdx.x % 32];
        const uint32_t all = __reduce_add_sync(0xffffffffu, each);
        const uint32_t earlier =
            __reduce_add_sync(0xffffffffu, threadIdx.x % 32 < threadIdx.x / 32 ? each : 0u);
        const uint32_t above_rank = above_done + (earlier & 0xffffu) + __popc(aboves & before);
        const uint32_t equal_rank = equal_done + (earlier >> 16) + __popc(equal & before);
        if (is_above || (is_equal && equal_rank < equals))
            out[above_rank + min(equal_rank, equals)] = static_cast<int32_t>(p);
        above_done += all & 0xffffu;
        equal_done += all >> 16;
    }
}

}  // namespace

void choose_pages(const BlockVotes& votes, int32_t* selection, cudaStream_t stream) {
    if (votes.blocks == 0) return;
    choose<<<static_cast<unsigned>(votes.blocks), kThreads, 0, stream>>>(votes, selection);
}

}  // namespace headroom::engine::kernels
