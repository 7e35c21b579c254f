// Names, folders and paths.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "shipped.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

class ReadModel : public ::testing::Test {
protected:
    ReadModel()
        : folder_(fs::path(::testing::TempDir()) / ("headroom_read_model." + std::to_string(getpid())) /
                  "mine-7B") {
        fs::create_directories(folder_);
        fs::copy_file(data() / "models/llm/Qwen2.5-7B/config.json", folder_ / "config.json",
                      fs::copy_options::overwrite_existing);
    }
    ~ReadModel() override { fs::remove_all(folder_.parent_path()); }
    fs::path folder_;
};

TEST_F(ReadModel, by_folder_and_by_file) {
    EXPECT_EQ(shipped(folder_.string()).name, "mine-7B");
    EXPECT_EQ(shipped(folder_.string() + "/").name, "mine-7B");
    EXPECT_EQ(shipped((folder_ / "config.json").string()).name, "mine-7B");
    fs::copy_file(folder_ / "config.json", folder_ / "other.json");
    EXPECT_EQ(shipped((folder_ / "other.json").string()).name, "other");
}

TEST_F(ReadModel, a_folder_without_a_config_names_the_file) {
    fs::remove(folder_ / "config.json");
    const auto model = read_model(folder_.string(), data());
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().text().find("config.json"), std::string::npos) << model.error().text();
}

TEST_F(ReadModel, a_file_too_large_is_refused) {
    std::ofstream(folder_ / "config.json") << '{' << std::string(17 << 20, ' ') << '}';
    const auto model = read_model(folder_.string(), data());
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().fault, Fault::bad_input);
}

TEST_F(ReadModel, a_config_that_is_a_folder_is_refused) {
    fs::remove(folder_ / "config.json");
    fs::create_directory(folder_ / "config.json");
    EXPECT_FALSE(read_model(folder_.string(), data()));
}

TEST(ReadModelByName, an_unknown_name_gets_the_nearest_and_all) {
    const auto model = read_model("Qwen2.5-7", data());
    ASSERT_FALSE(model);
    const std::string text = model.error().text();
    EXPECT_NE(text.find("nearest: 'Qwen2.5-7B'"), std::string::npos) << text;
    for (const std::string& name : shipped_models(data()))
        EXPECT_NE(text.find("'" + name + "'"), std::string::npos) << name;
}

TEST(ReadModelByName, odd_names_are_errors) {
    for (const char* name : {"", "..", ".", "/", "no/such/path", "Qwen2.5-7B/config.json"})
        EXPECT_FALSE(read_model(name, data())) << name;
    EXPECT_FALSE(read_model(std::string(100000, 'x'), data()));
}

TEST(ShippedModels, are_sorted_and_all_read) {
    const std::vector<std::string> names = shipped_models(data());
    EXPECT_GE(names.size(), 20u);
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    for (const std::string& name : names) EXPECT_EQ(shipped(name).name, name);
    EXPECT_TRUE(shipped_models("/no/such/folder").empty());
}

}  // namespace
}  // namespace headroom::test
