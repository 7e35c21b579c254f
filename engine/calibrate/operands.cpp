#include "calibrate/operands.h"

#include <ATen/ATen.h>

#include <functional>
#include <numeric>

#include "base/units.h"

namespace headroom::engine {
namespace {

constexpr int64_t kAligned = 256;

at::Tensor bytes_of(const at::Device& device, int64_t bytes) {
    return at::empty({round_up(bytes, kAligned)}, at::TensorOptions().dtype(at::kByte).device(device));
}

}  // namespace

Operands::Operands(const at::Device& device, at::ScalarType type, const Sizes& sizes)
    : device_(device), type_(type) {
    drawn_.bytes = bytes_of(device, sizes.drawn);
    out_.bytes = bytes_of(device, sizes.out);
    kept_.bytes = bytes_of(device, sizes.kept);
    sums_.bytes = bytes_of(device, sizes.sums);
    workspace_ = bytes_of(device, sizes.workspace);
    drawn_.bytes.view(type).normal_();
    out_.bytes.zero_();
    refresh();
}

void Operands::begin() {
    for (Pool* p : {&drawn_, &out_, &kept_, &sums_}) p->next = 0;
}

void Operands::refresh() {
    kept_.bytes.view(type_).normal_();
    sums_.bytes.view(at::kFloat).normal_();
}

at::Tensor Operands::take(Pool& pool, at::IntArrayRef sizes, at::ScalarType type) {
    const int64_t elements = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
    const int64_t bytes = elements * static_cast<int64_t>(c10::elementSize(type));
    TORCH_CHECK(pool.next + bytes <= pool.bytes.numel(), "operands of ", pool.next + bytes,
                " bytes, more than this device has room for (", pool.bytes.numel(), ")");
    at::Tensor view = pool.bytes.narrow(0, pool.next, bytes).view(type).view(sizes);
    pool.next += round_up(bytes, kAligned);
    return view;
}

at::Tensor Operands::drawn(at::IntArrayRef sizes) {
    return take(drawn_, sizes, type_);
}
at::Tensor Operands::out(at::IntArrayRef sizes, at::ScalarType type) {
    return take(out_, sizes, type);
}
at::Tensor Operands::kept(at::IntArrayRef sizes) {
    return take(kept_, sizes, type_);
}
at::Tensor Operands::sums(at::IntArrayRef sizes) {
    return take(sums_, sizes, at::kFloat);
}
at::Tensor Operands::workspace(int64_t bytes) const {
    TORCH_CHECK(bytes <= workspace_.numel(), "a workspace of ", bytes,
                " bytes, more than this device has room for (", workspace_.numel(), ")");
    return workspace_.narrow(0, 0, bytes);
}

at::TensorOptions Operands::options() const {
    return at::TensorOptions().dtype(type_).device(device_);
}

}  // namespace headroom::engine
