#include "hardware/nnls.h"

#include <Eigen/QR>
#include <algorithm>
#include <vector>

namespace headroom {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Unconstrained least squares over the columns in `active`; the others stay 0.
VectorXd solve_active(const MatrixXd& a, const VectorXd& b, const std::vector<Index>& active) {
    MatrixXd columns(a.rows(), static_cast<Index>(active.size()));
    for (size_t i = 0; i < active.size(); ++i) columns.col(static_cast<Index>(i)) = a.col(active[i]);
    const VectorXd part = columns.colPivHouseholderQr().solve(b);
    VectorXd x = VectorXd::Zero(a.cols());
    for (size_t i = 0; i < active.size(); ++i) x(active[i]) = part(static_cast<Index>(i));
    return x;
}

// Walks from x towards the unconstrained `target` until a coordinate would turn negative, and takes that one
// out; true if none did.
bool step_towards(const VectorXd& target, std::vector<Index>& active, VectorXd& x) {
    const auto reach = [&](Index j) { return target(j) > 0 ? 2.0 : x(j) / (x(j) - target(j)); };
    double share = 2;
    for (const Index j : active) share = std::min(share, reach(j));
    if (share > 1) {
        x = target;
        return true;
    }
    std::vector<Index> blocked;
    for (const Index j : active) {
        if (reach(j) <= share) blocked.push_back(j);
    }
    x += share * (target - x);
    for (const Index j : blocked) {
        x(j) = 0;
        std::erase(active, j);
    }
    return false;
}

}  // namespace

VectorXd nnls(const MatrixXd& matrix, const VectorXd& b) {
    // Unit columns, so that one tolerance serves all unknowns.
    VectorXd scale = matrix.colwise().norm().transpose();
    for (double& s : scale) s = s > 0 ? s : 1;
    const MatrixXd a = matrix * scale.cwiseInverse().asDiagonal();
    const double tolerance = 1e-12 * (1 + b.norm());

    VectorXd x = VectorXd::Zero(a.cols());
    std::vector<Index> active;
    std::vector<bool> refused(static_cast<size_t>(a.cols()), false);
    // Every accepted step lowers the residual, so no active set comes back; the bound guards against
    // rounding.
    for (Index step = 0; step < 3 * (a.cols() + 1); ++step) {
        const VectorXd gradient = a.transpose() * (b - a * x);
        Index best = -1;
        for (Index j = 0; j < a.cols(); ++j) {
            const bool out = x(j) == 0 && !refused[static_cast<size_t>(j)];
            if (out && gradient(j) > tolerance && (best < 0 || gradient(j) > gradient(best))) best = j;
        }
        if (best < 0) break;
        active.push_back(best);
        VectorXd target = solve_active(a, b, active);
        if (target(best) <= 0) {  // dependent on the active columns
            active.pop_back();
            refused[static_cast<size_t>(best)] = true;
            continue;
        }
        while (!step_towards(target, active, x)) target = solve_active(a, b, active);
        refused.assign(refused.size(), false);
    }
    return x.cwiseQuotient(scale);
}

}  // namespace headroom
