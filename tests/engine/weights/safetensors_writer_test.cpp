#include "weights/safetensors_writer.h"

#include <sys/resource.h>

#include <csignal>

#include "base/file.h"
#include "sim/base/scratch_folder.h"

namespace headroom {
namespace {

using Writer = ScratchFolder;

std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
}

const std::vector<TensorSpec> kTwo = {{"z", Dtype::bf16, {3}}, {"a", Dtype::fp32, {1, 2}}};

TEST_F(Writer, WhatWasWrittenIsRead) {
    Result<SafetensorsWriter> writer = SafetensorsWriter::open(at("w"), kTwo, {{"format", "pt"}});
    ASSERT_TRUE(writer) << writer.error().text();
    ASSERT_TRUE(writer->append(bytes("zzzz")));
    ASSERT_TRUE(writer->append(bytes("ZZaaaaAAA")));
    ASSERT_TRUE(writer->append(bytes("A")));
    ASSERT_TRUE(writer->finish());
    EXPECT_EQ(names(), std::vector<std::string>{"w"});

    const Result<SafetensorsFile> file = SafetensorsFile::open(at("w"));
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ(file->metadata(), (Metadata{{"format", "pt"}}));
    const StoredTensor& a = file->tensors().at("a");
    EXPECT_EQ(a.dtype, "F32");
    EXPECT_EQ(a.shape, (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(a.data.data()), a.data.size()), "aaaaAAAA");
    EXPECT_EQ(file->tensors().at("z").data.size(), 6);
    // Data begins at a multiple of 8 bytes.
    EXPECT_EQ(read_file(at("w"), 1000)->size() % 8, 14 % 8);
}

TEST_F(Writer, ReplacesOnlyWithTheWhole) {
    ASSERT_TRUE(write_file(at("w"), "old"));
    {
        Result<SafetensorsWriter> writer = SafetensorsWriter::open(at("w"), kTwo, {});
        ASSERT_TRUE(writer);
        ASSERT_TRUE(writer->append(bytes("zzzzZZaaaa")));
        EXPECT_EQ(writer->finish().error().text(),
                  at("w").string() + ": 4 bytes of data are missing; allowed: none");
        EXPECT_EQ(writer->append(bytes("12345")).error().text(),
                  at("w").string() + ": 5 bytes more of data; allowed: 4, as announced");
        EXPECT_EQ(*read_file(at("w"), 100), "old");
    }
    EXPECT_EQ(names(), std::vector<std::string>{"w"});
    EXPECT_EQ(*read_file(at("w"), 100), "old");
}

TEST_F(Writer, RefusesTensorsThatTheFormatHasNot) {
    const auto error = [&](std::vector<TensorSpec> tensors) {
        return SafetensorsWriter::open(at("w"), tensors, {}).error().found;
    };
    EXPECT_EQ(error({{"a", Dtype::fp32, {1}}, {"a", Dtype::fp32, {1}}}), "a name that is taken");
    EXPECT_EQ(error({{"__metadata__", Dtype::fp32, {1}}}), "a name that is taken");
    EXPECT_EQ(error({{"a", Dtype::q8_0, {32}}}), "q8_0");
    EXPECT_EQ(error({{"a", Dtype::fp32, {-1}}}), "a size of -1");
    EXPECT_EQ(error({{"a", Dtype::fp32, {int64_t{1} << 40, int64_t{1} << 40}}}), "a size of 1099511627776");
    EXPECT_FALSE(SafetensorsWriter::open(
        at("w"), std::vector<TensorSpec>{{"a", Dtype::fp64, {int64_t{1} << 62}}}, {}));
    EXPECT_TRUE(names().empty());
}

TEST_F(Writer, PathsThatCannotBeWritten) {
    EXPECT_EQ(SafetensorsWriter::open(at("no") / "w", kTwo, {}).error().fault, Fault::run_failed);
    EXPECT_EQ(SafetensorsWriter::open(folder_, kTwo, {}).error().found, "cannot be written: Is a directory");
    EXPECT_EQ(SafetensorsWriter::open("/dev/full/w", kTwo, {}).error().found,
              "cannot be written: Not a directory");
}

TEST_F(Writer, TooLargeAFileShowsBeforeTheWork) {
    // A limit of the process stands for a full disk.
    rlimit before = {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Result<SafetensorsWriter> writer =
        SafetensorsWriter::open(at("w"), std::vector<TensorSpec>{{"a", Dtype::fp32, {2000}}}, {});
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, old_handler);
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().fault, Fault::run_failed);
    EXPECT_NE(writer.error().found.find("find no room: File too large"), std::string::npos)
        << writer.error().found;
    EXPECT_TRUE(names().empty());
}

TEST_F(Writer, AnInterruptLeavesNothing) {
    {
        Result<SafetensorsWriter> writer = SafetensorsWriter::open(at("w"), kTwo, {});
        ASSERT_TRUE(writer);
        handle_interrupts();
        std::raise(SIGINT);
        const Result<void> result = writer->append(bytes("zz"));
        clear_interrupt();
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().fault, Fault::interrupted);
    }
    EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace headroom
