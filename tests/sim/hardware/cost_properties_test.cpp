#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "shipped.h"

namespace headroom {
namespace {

// Read once: a property runs a hundred times.
const Hardware& h200() {
    static const Hardware hardware = test::shipped("h200-sxm-pcie5");
    return hardware;
}

int64_t ns(const Work& work) {
    return duration_of(work, h200()).count();
}

int64_t dimension() {
    return *rc::gen::inRange<int64_t>(1, 100'000);
}

RC_GTEST_PROP(Duration, AGemmNeverGetsFasterByGrowing, ()) {
    const int64_t m = dimension(), n = dimension(), k = dimension(), more = dimension();
    for (const auto make : {gemm, gemm_accumulate}) {
        const int64_t time = ns(make(m, n, k, 1));
        RC_ASSERT(ns(make(m + more, n, k, 1)) >= time);
        RC_ASSERT(ns(make(m, n + more, k, 1)) >= time);
        RC_ASSERT(ns(make(m, n, k + more, 1)) >= time);
        RC_ASSERT(ns(make(m, n, k, 2)) >= time);
    }
}

RC_GTEST_PROP(Duration, AttentionNeverGetsFasterByGrowing, (bool backward, bool deterministic, bool causal)) {
    const int64_t queries = dimension(), keys = queries + dimension(), more = dimension();
    const auto time = [&](int64_t q, int64_t kv, int32_t heads, int32_t blocks) {
        return ns(attention(backward, deterministic, causal, q, kv, heads, 4, 128, blocks));
    };
    const int64_t alone = time(queries, keys, 28, 1);
    RC_ASSERT(time(queries, keys + more, 28, 1) >= alone);
    RC_ASSERT(time(queries, keys, 32, 1) >= alone);
    RC_ASSERT(time(queries, keys, 28, 2) >= alone);
    if (!causal) RC_ASSERT(time(queries + more, keys, 28, 1) >= alone);
}

RC_GTEST_PROP(Duration, AttentionByBlocksNeverGetsFasterByGrowing, (bool backward, bool deterministic)) {
    const int64_t block = *rc::gen::inRange<int64_t>(1, 1024), keys = dimension(), more = dimension();
    const int32_t blocks = *rc::gen::inRange<int32_t>(2, 256);
    const auto time = [&](int64_t q, int64_t kv, int32_t heads, int32_t n) {
        return ns(block_attention(backward, deterministic, q, kv, heads, 4, 128, n));
    };
    const int64_t alone = time(block, keys, 28, blocks);
    RC_ASSERT(time(block + more, keys, 28, blocks) >= alone);
    RC_ASSERT(time(block, keys + more, 28, blocks) >= alone);
    RC_ASSERT(time(block, keys, 32, blocks) >= alone);
    RC_ASSERT(time(block, keys, 28, blocks + 1) >= alone);
}

RC_GTEST_PROP(Duration, AMemoryBoundKernelNeverGetsFasterByGrowing, ()) {
    const auto kernel = static_cast<Kernel>(*rc::gen::inRange<size_t>(0, kKernels));
    const int64_t bytes = dimension(), rows = dimension(), more = dimension();
    const int64_t time = ns(memory_bound(bytes, kernel, rows));
    RC_ASSERT(ns(memory_bound(bytes + more, kernel, rows)) >= time);
    RC_ASSERT(ns(memory_bound(bytes, kernel, rows + more)) >= time);
}

RC_GTEST_PROP(Duration, CopiesNeverGetFasterByMoreBytes, (bool up)) {
    const auto direction = up ? WorkKind::copy_to_device : WorkKind::copy_to_host;
    const int64_t bytes = *rc::gen::inRange<int64_t>(1, 1 << 30),
                  more = *rc::gen::inRange<int64_t>(0, 1 << 30);
    const int64_t pieces = *rc::gen::inRange<int64_t>(1, 10'000);
    for (const PageCopy how : {PageCopy::loop, PageCopy::batch, PageCopy::gather})
        RC_ASSERT(ns(copy(direction, bytes + more, pieces, how)) >= ns(copy(direction, bytes, pieces, how)));
}

RC_GTEST_PROP(Duration, EveryShippedMachineAgreesOnWhatIsPositive, ()) {
    const std::vector<std::string> names = shipped_hardware(test::data());
    const Hardware h = test::shipped(*rc::gen::elementOf(names));
    RC_ASSERT(duration_of(gemm(dimension(), dimension(), dimension()), h) >= Nanoseconds(h.launch_ns));
    RC_ASSERT(duration_of(memory_bound(dimension()), h) >= Nanoseconds(h.launch_ns));
    RC_ASSERT(duration_of(copy(WorkKind::copy_to_host, dimension(), 1), h) >= Nanoseconds(1));
}

}  // namespace
}  // namespace headroom
