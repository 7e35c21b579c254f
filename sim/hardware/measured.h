// What was measured on a machine, as it was measured: the rows that the constants of the cost model are
// fitted from. They stand in the [measured] table of a hardware file; planning never reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "hardware/work.h"

namespace headroom {

// What a row is for.
enum class RowUse : uint8_t {
    fit,     // the constants are fitted from it
    check,   // held out: compared with what the fit says
    record,  // another implementation than the one that the engine runs, or another condition; kept to be
             // read
};

// How a GEMM is called. Weights lie as [out, in].
enum class GemmForm : uint8_t {
    forward,        // C[m,n] = A[m,k] B[n,k]^T
    bias,           // the same, and a row is added to each row
    residual,       // the same, added to what C holds
    data_gradient,  // C[m,n] = A[m,k] B[k,n]
};

// A rate is that of the median call; `spread`, where it was taken: the quartiles' distance over the median.

// One GEMM, bf16. m = n = k = 0: the shape was not recorded.
struct GemmRow {
    int64_t m = 0, n = 0, k = 0;
    double tflops = 0;
    RowUse use = RowUse::fit;
    GemmForm form = GemmForm::forward;  // of gemm; gemm_accumulate: C[m,n] += A[k,m]^T B[k,n], C fp32
    double spread = 0;
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
    double spread = 0;  // the largest of the three
    bool operator==(const AttentionRow&) const = default;
};

// One host-device copy at a time, the host waiting for each: what a single copy costs seen from outside.
struct CopyRow {
    bool to_device = false;
    int64_t bytes = 0;
    double bandwidth = 0;  // bytes/s
    bool operator==(const CopyRow&) const = default;
};

// `pieces` scattered pieces of `piece` bytes, handed over as plans do, timed on their stream.
struct TransferRow {
    bool to_device = false;
    PageCopy how = PageCopy::batch;
    int64_t piece = 0, pieces = 0;
    double bandwidth = 0;  // bytes/s
    double opposite = 0;   // bytes/s of the other direction, which ran at the same time; 0: none ran
    RowUse use = RowUse::fit;
    double spread = 0;
    bool operator==(const TransferRow&) const = default;
};

// One memory-bound op of the engine, by the name of its kind in a program (and a variant after a dot:
// "update.adamw").
struct MemoryRow {
    std::string kernel;
    int64_t rows = 0, columns = 0;  // what it was called with: tokens or pages, values of each
    int64_t bytes = 0;              // that the planner counts for it
    double seconds = 0;
    RowUse use = RowUse::fit;
    double spread = 0;
    bool operator==(const MemoryRow&) const = default;
};

// An op alone, and while copies run; and those copies alone, and while such ops run.
struct BesideRow {
    std::string victim;            // "gemm", "attention", "memory": class of the op
    std::string work;              // which: "gemm 4096 x 3584 x 37888"
    std::string beside;            // "to_device", "to_host", "to_device_gather", ..., "peer"; "+" joins two
    double alone = 0, shared = 0;  // seconds of one op
    double rate = 0, slowed = 0;   // bytes/s of the copies alone and beside the op; 0: not measured
    bool operator==(const BesideRow&) const = default;
};

// From one GPU to the next.
struct PeerRow {
    int64_t bytes = 0;
    double bandwidth = 0;  // bytes/s
    double opposite = 0;   // bytes/s the other way at the same time; 0: none ran
    bool operator==(const PeerRow&) const = default;
};

struct DiskRow {
    bool write = false;
    int64_t bytes = 0;
    double bandwidth = 0;  // bytes/s, past the system's cache
    bool operator==(const DiskRow&) const = default;
};

// Where and when. Empty and 0: not known.
struct MeasuredOn {
    std::string device, driver, cuda, torch, cudnn, date;
    int32_t multiprocessors = 0;
    Bytes memory, library_memory;  // of the device: all of it; what context and libraries hold of it
    Bytes host_memory;             // of the machine
    double launch_us = 0;          // of an op that has next to nothing to do, in a full stream
    double pin_s_per_gib = 0;
    int32_t gpus = 0;
    std::string like;  // the hardware file that gave what cannot be measured
    bool operator==(const MeasuredOn&) const = default;
};

struct Measured {
    MeasuredOn machine;
    std::vector<GemmRow> gemm, gemm_accumulate;
    std::vector<AttentionRow> attention;
    std::vector<MemoryRow> memory;
    std::vector<TransferRow> transfers;
    std::vector<CopyRow> copies;
    std::vector<BesideRow> beside;
    std::vector<PeerRow> peer;
    std::vector<DiskRow> disk;
    bool operator==(const Measured&) const = default;
};

std::string_view name_of(RowUse use);
std::string_view name_of(GemmForm form);

// The [measured] table of a hardware file; empty where there is none. `where` names the text in errors.
// Errors: as for parse_hardware (unknown key, wrong type, not positive), with the line.
Result<Measured> parse_measured(std::string_view text, const std::string& where);

// The table as text, ready to stand at the end of a file: one row a line, figures with five digits. What it
// writes, parse_measured reads, and writing that again gives the same bytes. Empty where nothing was
// measured.
std::string write_measured(const Measured& measured);

}  // namespace headroom
