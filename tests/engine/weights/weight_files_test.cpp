#include "weights/weight_files.h"

#include "base/file.h"
#include "engine/weights/safetensors_text.h"
#include "sim/base/scratch_folder.h"

namespace headroom {
namespace {

// Files of one-byte and two-byte tensors.
class WeightFilesTest : public ScratchFolder {
protected:
    void write(const std::string& name, const std::string& text) const {
        ASSERT_TRUE(write_file(at(name), text));
    }
    void write_tensor(const std::string& file, const std::string& tensor,
                      const std::string& dtype = "BF16") const {
        write(file, safetensors_text("{\"" + tensor + R"(":{"dtype":")" + dtype +
                                         R"(","shape":[1,1],"data_offsets":[0,2]}})",
                                     "xy"));
    }
    std::string error_of(const std::filesystem::path& path) const {
        const Result<WeightFiles> files = WeightFiles::open(path);
        return files ? "none" : files.error().text();
    }
};

TEST_F(WeightFilesTest, OneFileByItsNameOrItsFolder) {
    write_tensor("model.safetensors", "a");
    for (const auto& path : {folder_, at("model.safetensors")}) {
        const Result<WeightFiles> files = WeightFiles::open(path);
        ASSERT_TRUE(files) << files.error().text();
        EXPECT_EQ(files->names(), std::vector<std::string>{"a"});
        EXPECT_EQ(files->need({"a", {1, 1}})->data[1], std::byte{'y'});
    }
}

TEST_F(WeightFilesTest, ShardsThroughTheIndex) {
    write_tensor("1.safetensors", "a");
    write_tensor("2.safetensors", "b");
    write("model.safetensors.index.json",
          R"({"metadata":{},"weight_map":{"b":"2.safetensors","a":"1.safetensors"}})");
    for (const auto& path : {folder_, at("model.safetensors.index.json")}) {
        const Result<WeightFiles> files = WeightFiles::open(path);
        ASSERT_TRUE(files) << files.error().text();
        EXPECT_EQ(files->names(), (std::vector<std::string>{"a", "b"}));
        EXPECT_TRUE(files->need({"a", {1, 1}}));
        EXPECT_TRUE(files->need({"b", {1, 1}}));
    }
}

TEST_F(WeightFilesTest, WhatIsNeededMustMatch) {
    write_tensor("model.safetensors", "model.norm.weight");
    const Result<WeightFiles> files = WeightFiles::open(folder_);
    ASSERT_TRUE(files);
    EXPECT_EQ(files->need({"model.norms.weight", {1, 1}}).error().text(),
              folder_.string() +
                  ": holds no tensor 'model.norms.weight'; nearest: 'model.norm.weight'; allowed: all "
                  "weights of the model");
    EXPECT_EQ(files->need({"model.norm.weight", {1, 2}}).error().text(),
              at("model.safetensors").string() +
                  ", tensor 'model.norm.weight': shape [1, 1]; allowed: [1, 2], as the model's config says");
    write_tensor("other.safetensors", "a", "I16");
    EXPECT_EQ(WeightFiles::open(at("other.safetensors"))->need({"a", {1, 1}}).error().found, "dtype I16");
}

TEST_F(WeightFilesTest, FoldersAndIndexesThatAreNone) {
    EXPECT_EQ(error_of(folder_), folder_.string() +
                                     ": holds no weights; allowed: a folder with model.safetensors or "
                                     "model.safetensors.index.json");
    EXPECT_EQ(error_of(at("none.safetensors")),
              at("none.safetensors").string() + ": does not exist; allowed: a file that can be read");
    const std::string index = at("i.json").string();
    for (const char* text : {"", "[]", "{}", R"({"weight_map":3})"}) {
        write("i.json", text);
        EXPECT_EQ(error_of(index),
                  index + ": no index of weights; allowed: {\"weight_map\": {tensor: file}}");
    }
    for (const char* file : {R"("../x")", "3", R"("")", R"("..")"}) {
        write("i.json", std::string(R"({"weight_map":{"a":)") + file + "}}");
        EXPECT_NE(error_of(index).find(", tensor 'a': '"), std::string::npos);
    }
    write_tensor("1.safetensors", "a");
    write_tensor("2.safetensors", "a");
    write("i.json", R"({"weight_map":{"b":"1.safetensors"}})");
    EXPECT_EQ(error_of(index),
              index + ", tensor 'b': '1.safetensors' does not hold it; allowed: the file that holds it");
    write("i.json", R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
    EXPECT_NE(error_of(index).find("is in " + at("1.safetensors").string() + " too"), std::string::npos);
    write("i.json", R"({"weight_map":{"a":"missing"}})");
    EXPECT_NE(error_of(index).find("missing: does not exist"), std::string::npos);
}

}  // namespace
}  // namespace headroom
