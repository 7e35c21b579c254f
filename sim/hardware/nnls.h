// Non-negative linear least squares. A room-internal header: it shows Eigen.
#pragma once

#include <Eigen/Core>

namespace headroom {

// min |a x - b| over x >= 0, by the active-set method of Lawson and Hanson ("Solving Least Squares Problems",
// 1974, chapter 23). a [rows, unknowns], b [rows]; columns may differ in scale by any power. Columns that add
// nothing (zero, or dependent on those already in) get 0. Deterministic; a QR of the active columns per step.
Eigen::VectorXd nnls(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace headroom
