// GEMMs as forward.cpp and backward.cpp of engine/run call them.
#include <ATen/ATen.h>

#include "calibrate/work.h"
#include "decoder/products.h"

namespace headroom::engine {
namespace {

std::string shape_of(const GemmRow& r) {
    return std::to_string(r.m) + " x " + std::to_string(r.k) + " x " + std::to_string(r.n);
}

}  // namespace

Timed built(std::string name, const std::function<std::function<void()>()>& build) {
    Timed piece;
    piece.name = std::move(name);
    try {
        piece.work = build();
    } catch (const std::exception& e) {
        piece.problem = problem_of(e);
    }
    return piece;
}

Timed gemm_work(const GemmRow& r, Operands& operands) {
    return built("gemm " + shape_of(r) + ", " + std::string(name_of(r.form)), [&]() -> std::function<void()> {
        operands.begin();
        const at::Tensor a = operands.drawn({r.m, r.k});
        if (r.form == GemmForm::data_gradient) {
            const at::Tensor b = operands.drawn({r.k, r.n});
            return [a, b, out = operands.out({r.m, r.n})]() mutable { at::mm_out(out, a, b); };
        }
        const at::Tensor b = operands.drawn({r.n, r.k});
        if (r.form == GemmForm::residual) {
            return [a, b, out = operands.kept({r.m, r.n})]() mutable { out.addmm_(a, b.t()); };
        }
        at::Tensor out = operands.out({r.m, r.n});
        if (r.form == GemmForm::bias) {
            return [a, b, out, row = operands.drawn({r.n})]() mutable { at::addmm_out(out, row, a, b.t()); };
        }
        return [a, b, out]() mutable { at::mm_out(out, a, b.t()); };
    });
}

Timed accumulate_work(const GemmRow& r, Operands& operands) {
    return built("gemm_accumulate " + shape_of(r), [&]() -> std::function<void()> {
        operands.begin();
        const at::Tensor left = operands.drawn({r.k, r.m}), right = operands.drawn({r.k, r.n});
        return [left, right, sum = operands.sums({r.m, r.n})] { add_product(sum, left, right); };
    });
}

}  // namespace headroom::engine
