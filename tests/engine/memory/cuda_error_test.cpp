#include "memory/cuda_error.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(CudaError, SuccessIsNone) {
    EXPECT_TRUE(check_cuda(cudaSuccess, "a call"));
}

TEST(CudaError, NamesTheCallAndTheReason) {
    const Result<void> result =
        check_cuda(cudaErrorMemoryAllocation, "cudaMalloc of 12 bytes for the device arena");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().text(),
              "cudaMalloc of 12 bytes for the device arena: cudaErrorMemoryAllocation: out of memory");
    EXPECT_EQ(result.error().fault, Fault::run_failed);
}

}  // namespace
}  // namespace headroom
