// What was measured on a machine, as it was measured: the rows that the constants of the cost model are
// fitted from. They stand in the [measured] table of a hardware file; planning never reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace headroom {

// What a row is for.
enum class RowUse : uint8_t {
    fit,     // the constants are fitted from it
    check,   // held out: compared with what the fit says
    record,  // another implementation than the one that the engine runs, or another condition; kept to be
             // read
};

// One GEMM C[m,n] = A[m,k] B[n,k]^T, bf16. m = n = k = 0: the shape was not recorded.
struct GemmRow {
    int64_t m = 0, n = 0, k = 0;
    double tflops = 0;
    RowUse use = RowUse::fit;
    bool operator==(const GemmRow&) const = default;
};

// One attention shape, bf16: `blocks` of `queries` against `keys` each. A rate of 0: not measured.
// TFLOP/s of the visible scores: 4 (backward 10) x scores x heads x head_dim FLOPs.
struct AttentionRow {
    int64_t queries = 0, keys = 0;
    int32_t heads = 0, kv_heads = 0, head_dim = 0, blocks = 1;
    bool causal = false;  // at the bottom right
    double forward = 0, backward = 0, deterministic = 0;
    double workspace_mib = 0, deterministic_workspace_mib = 0;  // of the backward call; 0: not measured
    std::string library;                                        // "cudnn-graph", "cudnn-aten", "flash", ...
    RowUse use = RowUse::fit;
    bool operator==(const AttentionRow&) const = default;
};

// One host-device copy at a time, the host waiting for each: what a single copy costs seen from outside.
struct CopyRow {
    bool to_device = false;
    int64_t bytes = 0;
    double bandwidth = 0;  // bytes/s
    bool operator==(const CopyRow&) const = default;
};

struct Measured {
    std::vector<GemmRow> gemm, gemm_accumulate;
    std::vector<AttentionRow> attention;
    std::vector<CopyRow> copies;
    bool operator==(const Measured&) const = default;
};

std::string_view name_of(RowUse use);

// The [measured] table of a hardware file; empty where there is none. `where` names the text in errors.
// Errors: as for parse_hardware (unknown key, wrong type, not positive), with the line.
Result<Measured> parse_measured(std::string_view toml, const std::string& where);

}  // namespace headroom
