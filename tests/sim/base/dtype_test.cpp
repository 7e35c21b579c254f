#include "base/dtype.h"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(Dtype, OccupiesItsBytes) {
    EXPECT_EQ(bytes_of(Dtype::fp64, 3), Bytes(24));
    EXPECT_EQ(bytes_of(Dtype::fp32, 3), Bytes(12));
    EXPECT_EQ(bytes_of(Dtype::bf16, 3), Bytes(6));
    EXPECT_EQ(bytes_of(Dtype::fp16, 3), Bytes(6));
    EXPECT_EQ(bytes_of(Dtype::fp8, 3), Bytes(3));
    EXPECT_EQ(bytes_of(Dtype::int8, 3), Bytes(3));
    EXPECT_THROW(bytes_of(Dtype::fp64, INT64_MAX / 8 + 1), Overflow);
}

TEST(Dtype, BlockFormatTakesWholeBlocks) {
    EXPECT_EQ(bytes_of(Dtype::q8_0, 0), Bytes(0));
    EXPECT_EQ(bytes_of(Dtype::q8_0, 1), Bytes(34));
    EXPECT_EQ(bytes_of(Dtype::q8_0, 32), Bytes(34));
    EXPECT_EQ(bytes_of(Dtype::q8_0, 33), Bytes(68));
}

TEST(Dtype, IsReadByTheNameItIsWrittenWith) {
    for (const Dtype d :
         {Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::fp8, Dtype::int8, Dtype::q8_0})
        EXPECT_EQ(parse_dtype(name_of(d), ""), d) << name_of(d);
}

TEST(Dtype, UnknownNameIsAnswered) {
    const auto wrong = parse_dtype("bf6", "a.toml:2, key 'kv'");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(
        wrong.error().text(),
        "a.toml:2, key 'kv': 'bf6' is not a number format (did you mean 'bf16'?); allowed: 'fp64', 'fp32', "
        "'bf16', 'fp16', 'fp8', 'int8' or 'q8_0'");
}

}  // namespace
}  // namespace headroom
