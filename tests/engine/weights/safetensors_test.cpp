#include "weights/safetensors.h"

#include "base/file.h"
#include "engine/weights/safetensors_text.h"
#include "sim/base/scratch_folder.h"

namespace headroom {
namespace {

class Safetensors : public ScratchFolder {
protected:
    Result<SafetensorsFile> open(const std::string& text) const {
        static_cast<void>(write_file(at("a.safetensors"), text));
        return SafetensorsFile::open(at("a.safetensors"));
    }
    // The error of a file of that header and data, without the path.
    std::string error_of(const std::string& header, const std::string& data) const {
        const Result<SafetensorsFile> file = open(safetensors_text(header, data));
        if (file) return "none";
        std::string text = file.error().text();
        const std::string path = at("a.safetensors").string();
        if (text.rfind(path, 0) == 0) text.erase(0, path.size());
        return text;
    }
};

TEST_F(Safetensors, ReadsTensorsAndMetadata) {
    const Result<SafetensorsFile> file = open(safetensors_text(
        R"({"b":{"dtype":"BF16","shape":[2,1],"data_offsets":[3,7]},"__metadata__":{"format":"pt"},)"
        R"("a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"none":{"dtype":"F32","shape":[0,5],"data_offsets":[7,7]},)"
        R"("scalar":{"dtype":"I8","shape":[],"data_offsets":[7,8]}}   )",
        "abcWXYZ!"));
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ(file->metadata(), (Metadata{{"format", "pt"}}));
    ASSERT_EQ(file->tensors().size(), 4);
    const StoredTensor& b = file->tensors().at("b");
    EXPECT_EQ(b.dtype, "BF16");
    EXPECT_EQ(b.shape, (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(b.data.data()), b.data.size()), "WXYZ");
    EXPECT_EQ(file->tensors().at("none").data.size(), 0);
    EXPECT_EQ(file->tensors().at("scalar").data.size(), 1);
}

TEST_F(Safetensors, SurvivesAMove) {
    Result<SafetensorsFile> file =
        open(safetensors_text(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"));
    ASSERT_TRUE(file);
    const SafetensorsFile moved = std::move(*file);
    EXPECT_EQ(moved.tensors().at("a").data[0], std::byte{'x'});
}

TEST_F(Safetensors, FilesThatAreNoneSaySo) {
    EXPECT_EQ(open("").error().found, "has 0 bytes");
    EXPECT_EQ(open("1234567").error().found, "has 7 bytes");
    EXPECT_EQ(
        open(safetensors_text("{}", "", 3)).error().text(),
        at("a.safetensors").string() + ": a header of 3 bytes; allowed: a safetensors file: at most 2 here");
    EXPECT_FALSE(open(std::string(8, '\xFF') + "{}"));
    EXPECT_EQ(open(safetensors_text("[]")).error().found, "a header that is no JSON object");
    EXPECT_EQ(open(safetensors_text(R"({"a":)")).error().found, "a header that is no JSON object");
    EXPECT_EQ(SafetensorsFile::open(at("missing")).error().found, "does not exist");
    EXPECT_EQ(SafetensorsFile::open(folder_).error().found, "is a folder");
    EXPECT_EQ(SafetensorsFile::open("/dev/null").error().found, "is no regular file");
}

TEST_F(Safetensors, EntriesThatDoNotFitSaySo) {
    EXPECT_EQ(error_of(R"({"a":3})", ""),
              ", tensor 'a': no dtype; allowed: {\"dtype\": text, \"shape\": sizes, \"data_offsets\": "
              "[begin, end]}");
    EXPECT_EQ(
        error_of(R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", "1234"),
        ", tensor 'a': dtype 'F31'; allowed: F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I8 to I64, U8, BOOL");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234"),
              ", tensor 'a': 4 bytes of data; allowed: 8, as its shape and dtype say");
    EXPECT_EQ(error_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,5]}})", "1234"),
              ", tensor 'a': no data_offsets within the file; allowed: [begin, end] with begin <= end <= 4");
    for (const char* shape : {"[-1]", "[1.5]", "1", "[\"1\"]", "[18446744073709551615]"})
        EXPECT_EQ(
            error_of(std::string(R"({"a":{"dtype":"F32","shape":)") + shape + R"(,"data_offsets":[0,4]}})",
                     "1234"),
            ", tensor 'a': no shape that can be read; allowed: a list of whole numbers from 0");
    EXPECT_EQ(
        error_of(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}})", "1234"),
        ", tensor 'a': a shape of more than 2^63 bytes; allowed: one that the file holds");
    for (const char* offsets : {"[4,0]", "[0]", "[-1,3]", "{}"})
        EXPECT_NE(error_of(std::string(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)") + offsets + "}}",
                           "1234")
                      .find("no data_offsets"),
                  std::string::npos);
    EXPECT_EQ(error_of(R"({"__metadata__":{"step":3}})", ""),
              ": '__metadata__', 'step' is no text; allowed: a text");
}

TEST_F(Safetensors, TensorsMustCoverTheData) {
    const std::string a = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)";
    EXPECT_EQ(error_of(a + R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", "123"),
              ": tensors that overlap at byte 1 of the data; allowed: tensors side by side");
    EXPECT_EQ(error_of(a + R"("b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})", "1234"),
              ": a gap between tensors at byte 2 of the data; allowed: tensors side by side");
    EXPECT_EQ(error_of(a + R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})", "1234"),
              ": 1 bytes behind the last tensor; allowed: none");
}

TEST(SafetensorsDtype, WordsThereAndBack) {
    for (const Dtype dtype : {Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16, Dtype::fp8, Dtype::int8})
        EXPECT_EQ(dtype_of_safetensors(*safetensors_dtype(dtype)), dtype);
    EXPECT_EQ(safetensors_dtype(Dtype::bf16), "BF16");
    EXPECT_FALSE(safetensors_dtype(Dtype::q8_0));
    EXPECT_FALSE(dtype_of_safetensors("I64"));
}

}  // namespace
}  // namespace headroom
