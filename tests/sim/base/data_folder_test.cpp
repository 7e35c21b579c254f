#include <cstdlib>

#include "base/file.h"
#include "scratch_folder.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

class DataFolderTest : public ScratchFolder {
protected:
    void TearDown() override {
        unsetenv("HEADROOM_DATA");
        ScratchFolder::TearDown();
    }
};

TEST_F(DataFolderTest, EnvironmentNamesIt) {
    fs::create_directories(at("models/llm"));
    fs::create_directories(at("models/hardware"));
    setenv("HEADROOM_DATA", folder_.c_str(), 1);
    EXPECT_EQ(data_folder(), folder_);
}

TEST_F(DataFolderTest, WrongEnvironmentIsAnErrorAndNotPassedOver) {
    fs::create_directories(at("models/llm"));
    setenv("HEADROOM_DATA", folder_.c_str(), 1);
    ASSERT_FALSE(data_folder());
    EXPECT_EQ(data_folder().error().text(),
              "$HEADROOM_DATA: '" + folder_.string() +
                  "' does not hold them; allowed: a folder that holds models/llm and "
                  "models/hardware");
}

TEST_F(DataFolderTest, SourceTreeIsFoundFromTheProgramInsideIt) {
    unsetenv("HEADROOM_DATA");
    const fs::path tree = HEADROOM_SOURCE_DIR;
    const bool is_inside = fs::read_symlink("/proc/self/exe").string().starts_with(tree.string() + "/");
    if (!is_inside) GTEST_SKIP() << "built outside the source tree";
    EXPECT_EQ(data_folder(), tree);
}

}  // namespace
}  // namespace headroom
