// Attention straight through cuDNN's graph API: into the caller's buffers, strided as they are, and with the
// caller's workspace. Nothing is allocated on the device, nothing is copied.
//
// Shapes: tensors are [batch, tokens, heads, d] with rows as far apart as their strides say, the d values of
// a head adjacent; log-sum-exp is dense [batch, heads, tokens] fp32, natural, of the scaled scores (cuDNN
// before 9.26 reads no other layout). Query head i reads KV head i / (heads / kv_heads). Needs: 16-byte
// aligned pointers and strides; d a multiple of 8, at most 256; more than one query or key. Cost: a shape
// that is new to the process takes 40 ms of building, the first of its kind 0.5 to 0.8 s; its plan is kept
// until the process ends. A call after that: some microseconds of the host. Thread-safe: calls wait for each
// other. Errors name the shape and what the library said (Fault::run_failed). Source: NVIDIA/cudnn-frontend,
// docs/operations/Attention.md.
#pragma once

#include <cuda_runtime_api.h>

#include <compare>
#include <cstdint>

#include "base/result.h"

namespace headroom::engine {

// Elements from one token, from one head, and from one member of the batch to the next (of one: any).
struct HeadStrides {
    int64_t token = 0, head = 0, batch = 0;
    auto operator<=>(const HeadStrides&) const = default;
};

// One call, but for its pointers. Gradients' strides count backward only.
struct CudnnShape {
    int64_t queries = 0, keys = 0, heads = 0, kv_heads = 0, head_dim = 0;
    bool bf16 = true;            // else fp16
    bool causal = false;         // query i sees keys 0 to i, queries = keys; else all see all
    bool deterministic = false;  // backward: the same bits every time, at 15-18 % more time, more workspace
    HeadStrides q, k, v, out, d_out, dq, dk, dv;
    int64_t batch = 1;  // each with queries and keys of its own
    auto operator<=>(const CudnnShape&) const = default;
};

struct CudnnForward {
    const void *q, *k, *v;
    void* out;
    float* lse;
};
// lse and out are those of all keys, merged; dq, dk and dv are overwritten.
struct CudnnBackward {
    const void *q, *k, *v, *out, *d_out;
    const float* lse;
    void *dq, *dk, *dv;
};

// Scores are scaled by 1 / sqrt(d). `workspace`: `bytes` of the device, of which cudnn_workspace() are
// needed; fewer is an error.
Result<void> cudnn_attention_forward(const CudnnShape& shape, const CudnnForward& at, void* workspace,
                                     int64_t bytes, cudaStream_t stream);
Result<void> cudnn_attention_backward(const CudnnShape& shape, const CudnnBackward& at, void* workspace,
                                      int64_t bytes, cudaStream_t stream);
// Bytes; what the planner reckons with are attention_workspace and kAttentionForwardWorkspace
// (hardware/hardware.h).
Result<int64_t> cudnn_workspace(const CudnnShape& shape, bool backward);

}  // namespace headroom::engine
