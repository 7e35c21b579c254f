// Attention through cuDNN's graph API against the generic path in fp64. Only on a GPU.
#include "decoder/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "decoder/cudnn_attention.h"
#include "engine/kernels/drawn.h"
#include "hardware/hardware.h"

namespace headroom::engine::test {
namespace {

// bf16 keeps 8 bits: half a step of rounding is 2^-9 of a value, and what is rounded between (scores'
// exponentials, dS, the outputs themselves) adds up to a few of them.
constexpr double kBf16 = 4.0 / 512;

struct Case {
    int64_t queries, keys, heads, groups, dim;
    Span span;
    bool causal() const { return span.query_at == span.key_at; }
};

// Operands as the engine has them: q inside of [T, Q + 2 KV], causally k and v too, gradients likewise;
// log-sum-exp as [h, T].
struct Operands {
    at::Tensor qkv, q, k, v, d_out, out, lse, d_qkv, dq, dk, dv;

    Operands(const Case& c, const at::Device& device, at::ScalarType type) {
        const int64_t Q = c.heads * c.dim, KV = c.groups * c.dim;
        qkv = drawn({c.queries, Q + 2 * KV}, 1, at::kBFloat16).to(device, type);
        d_qkv = at::full_like(qkv, std::nan(""));
        const auto heads = [&](const at::Tensor& of, int64_t first, int64_t count) {
            return of.narrow(1, first, count * c.dim).unflatten(1, {count, c.dim});
        };
        q = heads(qkv, 0, c.heads);
        dq = heads(d_qkv, 0, c.heads);
        if (c.causal()) {
            k = heads(qkv, Q, c.groups);
            v = heads(qkv, Q + KV, c.groups);
            dk = heads(d_qkv, Q, c.groups);
            dv = heads(d_qkv, Q + KV, c.groups);
        } else {
            k = drawn({c.keys, c.groups, c.dim}, 2, at::kBFloat16).to(device, type);
            v = drawn({c.keys, c.groups, c.dim}, 3, at::kBFloat16).to(device, type);
            dk = at::full_like(k, std::nan(""));
            dv = at::full_like(v, std::nan(""));
        }
        d_out = drawn({c.queries, c.heads, c.dim}, 4, at::kBFloat16).to(device, type);
        out = at::full_like(d_out, std::nan(""));
        lse = at::full({c.heads, c.queries}, std::nan(""), qkv.options().dtype(wide(type))).t();
    }
    static at::ScalarType wide(at::ScalarType type) { return type == at::kDouble ? at::kDouble : at::kFloat; }
};

AttentionScratch scratch_for(const Case& c, const at::Tensor& q, bool deterministic = false) {
    const int64_t bytes =
        attention_workspace(c.queries, c.keys, c.heads, c.dim, deterministic, false).count();
    return {at::empty({bytes}, q.options().dtype(at::kByte)),
            at::empty({c.queries, c.heads, c.dim}, q.options()), deterministic};
}

at::Tensor forward_room(const at::Tensor& q) {
    return at::empty({kAttentionForwardWorkspace}, q.options().dtype(at::kByte));
}

struct CudnnGraph : Kernels {};

const std::vector<Case> kCases = {
    {64, 64, 4, 2, 128, {0, 0, 0}},          {512, 512, 28, 4, 128, {4096, 4096, 0}},
    {300, 300, 8, 8, 64, {0, 0, 0}},         {128, 1000, 4, 1, 128, {1000, 0, 0}},
    {300, 129, 14, 2, 64, {512, 100, 0}},    {16, 2048, 28, 4, 128, {4096, 0, 0}},
    {256, 1024, 4, 2, 256, {2048, 1000, 0}}, {1, 64, 4, 2, 128, {64, 0, 0}}};

TEST_F(CudnnGraph, IsTheGenericPath) {
    for (const Case& c : kCases) {
        SCOPED_TRACE(testing::Message() << c.queries << " x " << c.keys << ", " << c.heads << " over "
                                        << c.groups << " heads of " << c.dim);
        Operands truth(c, at::kCPU, at::kDouble), gpu(c, at::Device("cuda:0"), at::kBFloat16);
        attention_forward(truth.q, truth.k, truth.v, c.span, truth.out, truth.lse);
        attention_backward(truth.q, truth.k, truth.v, truth.out, truth.lse, truth.d_out, c.span, truth.dq,
                           false, truth.dk, truth.dv);
        attention_forward(gpu.q, gpu.k, gpu.v, c.span, gpu.out, gpu.lse, forward_room(gpu.q));
        for (const bool deterministic : {false, true}) {
            attention_backward(gpu.q, gpu.k, gpu.v, gpu.out, gpu.lse, gpu.d_out, c.span, gpu.dq, false,
                               gpu.dk, gpu.dv, scratch_for(c, gpu.q, deterministic));
            std::printf("%5ld x %5ld: out %.1e, dq %.1e, dk %.1e, dv %.1e\n", static_cast<long>(c.queries),
                        static_cast<long>(c.keys), off(gpu.out, truth.out), off(gpu.dq, truth.dq),
                        off(gpu.dk, truth.dk), off(gpu.dv, truth.dv));
            EXPECT_LT(off(gpu.out, truth.out), kBf16);
            EXPECT_LT(off(gpu.lse, truth.lse), 1e-5);
            EXPECT_LT(off(gpu.dq, truth.dq), kBf16);
            EXPECT_LT(off(gpu.dk, truth.dk), kBf16);
            EXPECT_LT(off(gpu.dv, truth.dv), kBf16);
        }
    }
}

// Own chunk and two pieces of the past, merged, and their gradients summed in fp32, against all keys at once.
TEST_F(CudnnGraph, PartsMerge) {
    const Case own{200, 200, 8, 2, 128, {512, 512, 0}};
    const Case pasts[] = {{200, 384, 8, 2, 128, {512, 0, 0}}, {200, 128, 8, 2, 128, {512, 384, 0}}};
    const auto run = [&](const at::Device& device, at::ScalarType type) {
        Operands o(own, device, type);
        Operands a(pasts[0], device, type), b(pasts[1], device, type);
        std::vector<at::Tensor> results;
        const at::Tensor room_forward = device.is_cuda() ? forward_room(o.q) : at::Tensor();
        attention_forward(o.q, o.k, o.v, own.span, o.out, o.lse, room_forward);
        for (Operands* p : {&a, &b}) {
            const Span& span = pasts[p == &b].span;
            attention_forward(o.q, p->k, p->v, span, p->out, p->lse, room_forward);
            attention_merge(o.out, o.lse, p->out, p->lse);
        }
        const AttentionScratch none, room = scratch_for(pasts[0], o.q);
        const AttentionScratch& scratch = device.is_cuda() ? room : none;
        attention_backward(o.q, o.k, o.v, o.out, o.lse, o.d_out, own.span, o.dq, false, o.dk, o.dv, scratch);
        at::Tensor sum = at::full({own.queries, own.heads, own.dim}, std::nan(""),
                                  o.q.options().dtype(Operands::wide(type)));
        for (Operands* p : {&a, &b}) {
            attention_backward(o.q, p->k, p->v, o.out, o.lse, o.d_out, pasts[p == &b].span, sum, p == &b,
                               p->dk, p->dv, scratch);
        }
        return std::vector<at::Tensor>{o.out, o.lse, o.dq, o.dk, o.dv, sum, a.dk, a.dv, b.dk, b.dv};
    };
    const std::vector<at::Tensor> truth = run(at::kCPU, at::kDouble),
                                  gpu = run(at::Device("cuda:0"), at::kBFloat16);
    for (size_t i = 0; i < truth.size(); ++i) EXPECT_LT(off(gpu[i], truth[i]), kBf16) << "result " << i;
}

TEST_F(CudnnGraph, DeterministicGivesTheSameBits) {
    const Case c{512, 2048, 28, 4, 128, {2048, 0, 0}};
    Operands o(c, at::Device("cuda:0"), at::kBFloat16);
    attention_forward(o.q, o.k, o.v, c.span, o.out, o.lse, forward_room(o.q));
    const AttentionScratch scratch = scratch_for(c, o.q, true);
    std::vector<at::Tensor> first;
    for (int run = 0; run < 8; ++run) {
        attention_backward(o.q, o.k, o.v, o.out, o.lse, o.d_out, c.span, o.dq, false, o.dk, o.dv, scratch);
        const std::vector<at::Tensor> results{o.dq.clone(), o.dk.clone(), o.dv.clone()};
        if (run == 0) first = results;
        for (size_t i = 0; i < first.size(); ++i)
            EXPECT_TRUE(at::equal(first[i], results[i])) << "run " << run;
    }
}

CudnnShape dense_shape(const Case& c, bool deterministic) {
    const HeadStrides q{c.heads * c.dim, c.dim}, k{c.groups * c.dim, c.dim};
    return {c.queries, c.keys, c.heads, c.groups, c.dim, true, c.causal(), deterministic,
            q,         k,      k,       q,        q,     q,    k,          k};
}

TEST_F(CudnnGraph, TheWorkspaceIsWhatIsPlanned) {
    std::vector<Case> cases = kCases;
    cases.push_back({4096, 8192, 28, 4, 128, {8192, 0, 0}});
    cases.push_back({4096, 4096, 28, 4, 128, {0, 0, 0}});
    cases.push_back({8192, 8192, 32, 8, 128, {8192, 0, 0}});
    cases.push_back({2000, 5000, 16, 8, 64, {5000, 0, 0}});
    for (const Case& c : cases) {
        for (const bool deterministic : {false, true}) {
            const Result<int64_t> bytes = cudnn_workspace(dense_shape(c, deterministic), true);
            ASSERT_TRUE(bytes.has_value()) << bytes.error().text();
            const int64_t planned =
                attention_workspace(c.queries, c.keys, c.heads, c.dim, deterministic, false).count();
            std::printf("%5ld x %5ld, %2ld heads of %3ld, %-13s: %ld of %ld bytes\n",
                        static_cast<long>(c.queries), static_cast<long>(c.keys), static_cast<long>(c.heads),
                        static_cast<long>(c.dim), deterministic ? "deterministic" : "fast",
                        static_cast<long>(*bytes), static_cast<long>(planned));
            EXPECT_LE(*bytes, planned);
            const Result<int64_t> forward = cudnn_workspace(dense_shape(c, deterministic), false);
            ASSERT_TRUE(forward.has_value()) << forward.error().text();
            EXPECT_LE(*forward, kAttentionForwardWorkspace);
        }
    }
}

TEST_F(CudnnGraph, AWorkspaceThatIsTooSmallIsRefusedByItsBytes) {
    const Case c{512, 2048, 28, 4, 128, {2048, 0, 0}};
    Operands o(c, at::Device("cuda:0"), at::kBFloat16);
    attention_forward(o.q, o.k, o.v, c.span, o.out, o.lse, forward_room(o.q));
    AttentionScratch scratch = scratch_for(c, o.q);
    scratch.workspace = scratch.workspace.narrow(0, 0, 1024);
    const auto expect_refused = [](const std::string& part, const auto& call) {
        try {
            call();
            FAIL() << "accepted";
        } catch (const c10::Error& e) {
            const std::string text = e.what_without_backtrace();
            EXPECT_NE(text.find("512 queries x 2048 keys"), std::string::npos) << text;
            EXPECT_NE(text.find(part), std::string::npos) << text;
        }
    };
    expect_refused("a workspace of 1024 bytes", [&] {
        attention_backward(o.q, o.k, o.v, o.out, o.lse, o.d_out, c.span, o.dq, false, o.dk, o.dv, scratch);
    });
    const Result<int64_t> asked = cudnn_workspace(dense_shape(c, false), false);
    ASSERT_TRUE(asked.has_value()) << asked.error().text();
    if (*asked == 0) return;  // a version that needs none
    expect_refused("a workspace of 0 bytes", [&] {
        attention_forward(o.q, o.k, o.v, c.span, o.out, o.lse, scratch.workspace.narrow(0, 0, 0));
    });
}

// A window cuts into the segment: the generic path, with the same results.
TEST_F(CudnnGraph, WindowsStayGeneric) {
    const Case c{100, 128, 4, 2, 64, {128, 0, 90}};
    Operands truth(c, at::kCPU, at::kDouble), gpu(c, at::Device("cuda:0"), at::kBFloat16);
    attention_forward(truth.q, truth.k, truth.v, c.span, truth.out, truth.lse);
    attention_forward(gpu.q, gpu.k, gpu.v, c.span, gpu.out, gpu.lse, forward_room(gpu.q));
    EXPECT_LT(off(gpu.out.narrow(0, 0, 80), truth.out.narrow(0, 0, 80)), kBf16);
    EXPECT_TRUE(at::equal(gpu.lse.isneginf().cpu(), truth.lse.isneginf()));
}

// Log-sum-exp may lie either way; on the CPU too.
TEST(Attention, LogSumExpLiesEitherWay) {
    const Case c{37, 37, 6, 2, 16, {5, 5, 0}};
    Operands apart(c, at::kCPU, at::kDouble), together(c, at::kCPU, at::kDouble);
    together.lse = at::empty({c.queries, c.heads}, at::kDouble);
    for (Operands* o : {&apart, &together}) {
        attention_forward(o->q, o->k, o->v, c.span, o->out, o->lse);
        attention_merge(o->out, o->lse, o->d_out, o->lse.flip(0));
        attention_backward(o->q, o->k, o->v, o->out, o->lse, o->d_out, c.span, o->dq, false, o->dk, o->dv);
    }
    EXPECT_TRUE(at::equal(apart.lse, together.lse));
    EXPECT_TRUE(at::equal(apart.out, together.out));
    EXPECT_TRUE(at::equal(apart.d_qkv, together.d_qkv));
}

}  // namespace
}  // namespace headroom::engine::test
