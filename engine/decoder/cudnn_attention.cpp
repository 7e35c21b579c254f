// The only file that includes the headers of cuDNN's graph API: they take half a minute to compile.
#include "decoder/cudnn_attention.h"

#include <cudnn_frontend.h>

#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace headroom::engine {
namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

enum Uid : int64_t { kQ = 1, kK, kV, kOut, kLse, kDOut, kDq, kDk, kDv };

struct Built {
    std::shared_ptr<fe::graph::Graph> graph;
    int64_t workspace = 0;
};

std::string name_of(const CudnnShape& s, bool backward) {
    const auto number = [](int64_t n) { return std::to_string(n); };
    return std::string("attention ") + (backward ? "backward" : "forward") + " of " +
           (s.batch > 1 ? number(s.batch) + " x " : "") + number(s.queries) + " queries x " + number(s.keys) +
           " keys" + (s.causal ? ", causal, " : ", ") + number(s.heads) + " over " + number(s.kv_heads) +
           " heads of " + number(s.head_dim) + (s.bf16 ? ", bf16" : ", fp16") +
           (s.deterministic ? ", deterministic" : "");
}

tl::unexpected<Error> failed(const CudnnShape& s, bool backward, const std::string& found,
                             const std::string& allowed = {}) {
    return fail(name_of(s, backward), found, allowed, Fault::run_failed);
}

// [batch, tokens, heads, d] as the library names it: [batch, heads, tokens, d].
fe::graph::Tensor_attributes& place(fe::graph::Tensor_attributes& t, Uid uid, int64_t batch, int64_t tokens,
                                    int64_t heads, int64_t dim, const HeadStrides& strides) {
    return t.set_uid(uid)
        .set_dim({batch, heads, tokens, dim})
        .set_stride({batch > 1 ? strides.batch : tokens * strides.token, strides.head, strides.token, 1});
}

// One graph with its operands.
class Description {
public:
    explicit Description(const CudnnShape& s) : s_(s), graph_(std::make_shared<fe::graph::Graph>()) {
        graph_->set_io_data_type(s.bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
    }

    std::shared_ptr<fe::graph::Graph> forward() {
        fe::graph::SDPA_attributes options;
        options.set_name("forward").set_generate_stats(true).set_attn_scale(scale());
        mask(options);
        auto [out, lse] =
            graph_->sdpa(queries(kQ, "q", s_.q), keys(kK, "k", s_.k), keys(kV, "v", s_.v), options);
        place(*out, kOut, s_.batch, s_.queries, s_.heads, s_.head_dim, s_.out).set_output(true);
        sums(*lse).set_output(true);
        return graph_;
    }

    std::shared_ptr<fe::graph::Graph> backward() {
        fe::graph::SDPA_backward_attributes options;
        options.set_name("backward").set_attn_scale(scale()).set_deterministic_algorithm(s_.deterministic);
        mask(options);
        fe::graph::Tensor_attributes lse;
        sums(lse).set_name("lse");
        auto [dq, dk, dv] = graph_->sdpa_backward(
            queries(kQ, "q", s_.q), keys(kK, "k", s_.k), keys(kV, "v", s_.v), queries(kOut, "out", s_.out),
            queries(kDOut, "d_out", s_.d_out), graph_->tensor(lse), options);
        place(*dq, kDq, s_.batch, s_.queries, s_.heads, s_.head_dim, s_.dq).set_output(true);
        place(*dk, kDk, s_.batch, s_.keys, s_.kv_heads, s_.head_dim, s_.dk).set_output(true);
        place(*dv, kDv, s_.batch, s_.keys, s_.kv_heads, s_.head_dim, s_.dv).set_output(true);
        return graph_;
    }

private:
    float scale() const { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(s_.head_dim))); }
    template <class Options>
    void mask(Options& options) const {
        if (s_.causal)
            options.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
                .set_diagonal_band_right_bound(0);
    }
    Tensor queries(Uid uid, const char* name, const HeadStrides& strides) {
        fe::graph::Tensor_attributes t;
        place(t, uid, s_.batch, s_.queries, s_.heads, s_.head_dim, strides).set_name(name);
        return graph_->tensor(t);
    }
    Tensor keys(Uid uid, const char* name, const HeadStrides& strides) {
        fe::graph::Tensor_attributes t;
        place(t, uid, s_.batch, s_.keys, s_.kv_heads, s_.head_dim, strides).set_name(name);
        return graph_->tensor(t);
    }
    fe::graph::Tensor_attributes& sums(fe::graph::Tensor_attributes& t) const {
        return t.set_uid(kLse)
            .set_dim({s_.batch, s_.heads, s_.queries, 1})
            .set_stride({s_.heads * s_.queries, s_.queries, 1, 1})
            .set_data_type(fe::DataType_t::FLOAT);
    }

    const CudnnShape& s_;
    std::shared_ptr<fe::graph::Graph> graph_;
};

// The library's handle of one device, and what was built with it.
class Library {
public:
    // The plan of a shape; the pointer stays valid.
    Result<const Built*> plan(const CudnnShape& shape, bool backward) {
        CudnnShape key = shape;
        if (!backward) {
            key.deterministic = false;
            key.d_out = key.dq = key.dk = key.dv = {};
        }
        const auto known = plans_.find({backward, key});
        if (known != plans_.end()) return &known->second;
        HEADROOM_CHECK(open(shape, backward));
        Built built;
        built.graph = backward ? Description(key).backward() : Description(key).forward();
        if (auto status = built.graph->build(handle_, {fe::HeurMode_t::A}); status.is_bad())
            return failed(shape, backward, "cuDNN cannot build it: " + status.get_message());
        if (auto status = built.graph->get_workspace_size(built.workspace); status.is_bad())
            return failed(shape, backward, "cuDNN cannot say its workspace: " + status.get_message());
        return &plans_.emplace(std::pair{backward, key}, std::move(built)).first->second;
    }

    Result<void> run(const CudnnShape& shape, bool backward, std::unordered_map<int64_t, void*> operands,
                     void* workspace, int64_t bytes, cudaStream_t stream) {
        HEADROOM_TRY(const Built* built, plan(shape, backward));
        if (bytes < built->workspace)
            return failed(shape, backward, "a workspace of " + std::to_string(bytes) + " bytes",
                          "at least " + std::to_string(built->workspace) + " bytes, as cuDNN asks");
        if (const cudnnStatus_t status = cudnnSetStream(handle_, stream); status != CUDNN_STATUS_SUCCESS)
            return failed(shape, backward, std::string("cudnnSetStream: ") + cudnnGetErrorString(status));
        if (auto status = built->graph->execute(handle_, operands, workspace); status.is_bad())
            return failed(shape, backward, "cuDNN cannot run it: " + status.get_message());
        return {};
    }

private:
    Result<void> open(const CudnnShape& shape, bool backward) {
        if (handle_ != nullptr) return {};
        if (const cudnnStatus_t status = cudnnCreate(&handle_); status != CUDNN_STATUS_SUCCESS)
            return failed(shape, backward, std::string("cudnnCreate: ") + cudnnGetErrorString(status));
        return {};
    }

    cudnnHandle_t handle_ = nullptr;  // until the process ends, as are the plans
    std::map<std::pair<bool, CudnnShape>, Built> plans_;
};

// Calls `work` with the library of the current device.
template <class Work>
auto with_library(const CudnnShape& shape, bool backward, const Work& work)
    -> decltype(work(std::declval<Library&>())) {
    // Never destroyed: CUDA may end before what is static.
    static std::mutex& one_at_a_time = *new std::mutex;
    static std::map<int, Library>& libraries = *new std::map<int, Library>;
    int device = 0;
    if (const cudaError_t status = cudaGetDevice(&device); status != cudaSuccess)
        return failed(shape, backward, std::string("cudaGetDevice: ") + cudaGetErrorString(status));
    const std::lock_guard lock(one_at_a_time);
    try {
        return work(libraries[device]);
    } catch (const std::exception& e) {  // the headers throw where they cannot load a library
        return failed(shape, backward, std::string("cuDNN: ") + e.what());
    }
}

// Inputs and outputs stand in one table of the library.
void* plain(const void* p) {
    return const_cast<void*>(p);
}

}  // namespace

Result<void> cudnn_attention_forward(const CudnnShape& shape, const CudnnForward& at, void* workspace,
                                     int64_t bytes, cudaStream_t stream) {
    return with_library(shape, false, [&](Library& library) {
        return library.run(
            shape, false,
            {{kQ, plain(at.q)}, {kK, plain(at.k)}, {kV, plain(at.v)}, {kOut, at.out}, {kLse, at.lse}},
            workspace, bytes, stream);
    });
}

Result<void> cudnn_attention_backward(const CudnnShape& shape, const CudnnBackward& at, void* workspace,
                                      int64_t bytes, cudaStream_t stream) {
    return with_library(shape, true, [&](Library& library) {
        return library.run(shape, true,
                           {{kQ, plain(at.q)},
                            {kK, plain(at.k)},
                            {kV, plain(at.v)},
                            {kOut, plain(at.out)},
                            {kLse, plain(at.lse)},
                            {kDOut, plain(at.d_out)},
                            {kDq, at.dq},
                            {kDk, at.dk},
                            {kDv, at.dv}},
                           workspace, bytes, stream);
    });
}

Result<int64_t> cudnn_workspace(const CudnnShape& shape, bool backward) {
    return with_library(shape, backward, [&](Library& library) -> Result<int64_t> {
        HEADROOM_TRY(const Built* built, library.plan(shape, backward));
        return built->workspace;
    });
}

}  // namespace headroom::engine
