#include "hardware/nnls.h"

#include <Eigen/QR>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace headroom {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(Nnls, IsLeastSquaresWhereThatIsNotNegative) {
    MatrixXd a(3, 2);
    a << 1, 0, 0, 1, 1, 1;
    const VectorXd b = a * Eigen::Vector2d(2, 3);
    const VectorXd x = nnls(a, b);
    EXPECT_NEAR(x(0), 2, 1e-12);
    EXPECT_NEAR(x(1), 3, 1e-12);
}

TEST(Nnls, HoldsANegativeUnknownAtZero) {
    MatrixXd a(2, 2);
    a << 1, 1, 0, 1;
    const VectorXd x = nnls(a, Eigen::Vector2d(1, -1));  // unconstrained: (2, -1)
    EXPECT_DOUBLE_EQ(x(1), 0);
    EXPECT_NEAR(x(0), 1, 1e-12);
}

// The first column is nearest to b and enters first; with the other two b is -0.1 of it and 1 of each.
TEST(Nnls, TakesOutAColumnThatLaterOnesTurnNegative) {
    MatrixXd a(3, 3);
    a << 1, 1, 1, 0, 2, -2, 0.5, 0, 0;
    const VectorXd x = nnls(a, Eigen::Vector3d(1.9, 0, -0.05));
    EXPECT_EQ(x(0), 0);
    EXPECT_NEAR(x(1), 0.95, 1e-12);
    EXPECT_NEAR(x(2), 0.95, 1e-12);
}

TEST(Nnls, ColumnsMayDifferByTwentyOrders) {
    MatrixXd a(3, 2);
    a << 1e-10, 2e10, 3e-10, 1e10, 1e-10, 1e10;
    const VectorXd x = nnls(a, a * Eigen::Vector2d(5e10, 7e-10));
    EXPECT_NEAR(x(0) / 5e10, 1, 1e-9);
    EXPECT_NEAR(x(1) / 7e-10, 1, 1e-9);
}

TEST(Nnls, DependentAndEmptyColumnsGetZero) {
    MatrixXd a(2, 3);
    a << 1, 1, 0, 2, 2, 0;
    const VectorXd x = nnls(a, Eigen::Vector2d(3, 6));
    EXPECT_NEAR(x(0) + x(1), 3, 1e-12);
    EXPECT_EQ(x(2), 0);
}

double misfit(const MatrixXd& a, const VectorXd& b, const VectorXd& x) {
    return (a * x - b).norm();
}

// Differential: no choice of active columns with a non-negative solution fits better.
RC_GTEST_PROP(Nnls, BeatsEverySubsetOfColumns, ()) {
    const Eigen::Index rows = *rc::gen::inRange(1, 7), columns = *rc::gen::inRange(1, 5);
    MatrixXd a(rows, columns);
    VectorXd b(rows);
    for (double& v : a.reshaped()) v = *rc::gen::inRange(-9, 10);
    for (double& v : b) v = *rc::gen::inRange(-9, 10);
    const VectorXd x = nnls(a, b);
    RC_ASSERT(x.minCoeff() >= 0);
    for (int set = 1; set < 1 << columns; ++set) {
        MatrixXd part = MatrixXd::Zero(rows, columns);
        for (Eigen::Index j = 0; j < columns; ++j) {
            if (set & 1 << j) part.col(j) = a.col(j);
        }
        const VectorXd y = part.completeOrthogonalDecomposition().solve(b);
        if (y.minCoeff() >= 0) RC_ASSERT(misfit(a, b, x) <= misfit(part, b, y) + 1e-9);
    }
}

}  // namespace
}  // namespace headroom
