#include "weights/token_ids.h"

#include <algorithm>

#include "base/file.h"
#include "sim/base/scratch_folder.h"

namespace headroom {
namespace {

using namespace std::string_literals;

template <class T>
std::string raw(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// As numpy.save writes it: the header padded to 64 bytes.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                char version = 1) {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    const size_t prefix = version == 1 ? 10 : 12;
    while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::string text = "\x93NUMPY"s + version + '\0';
    text += static_cast<char>(header.size() & 0xFFU);
    text += static_cast<char>(header.size() >> 8);
    if (version > 1) text += "\0\0"s;
    return text + header + data;
}

class TokenIds : public ScratchFolder {
protected:
    Result<std::vector<int32_t>> read(const std::string& name, const std::string& text, int64_t first,
                                      int64_t count) const {
        static_cast<void>(write_file(at(name), text));
        return read_token_ids(at(name), Tokens(first), Tokens(count), 1000);
    }
};

TEST_F(TokenIds, AreReadFromEachFormat) {
    const std::vector<int32_t> expected = {7, 0, 999};
    const std::vector<int32_t> narrow = {5, 7, 0, 999, 5000};
    const std::vector<int64_t> wide = {5, 7, 0, 999, 5000};
    EXPECT_EQ(read("a.bin", raw(narrow), 1, 3), expected);
    EXPECT_EQ(read("a.npy", npy("<u4", "(5,)", raw(narrow)), 1, 3), expected);
    EXPECT_EQ(read("a.npy", npy("<i4", "(5,)", raw(narrow)), 1, 3), expected);
    EXPECT_EQ(read("a.npy", npy("<i8", "(5,)", raw(wide)), 1, 3), expected);
    EXPECT_EQ(read("a.npy", npy("<i8", "(5,)", raw(wide), 2), 1, 3), expected);
    EXPECT_EQ(read("a.bin", "", 0, 0), std::vector<int32_t>{});
}

TEST_F(TokenIds, OutsideOfTheVocabularyAreNamed) {
    const std::string text = raw(std::vector<int32_t>{5, 1000, -1});
    EXPECT_EQ(read("a.bin", text, 0, 2).error().text(),
              at("a.bin").string() + ", token 1: id 1000; allowed: 0 to 999");
    EXPECT_EQ(read("a.bin", text, 2, 1).error().found, "id 4294967295");
    EXPECT_EQ(read("a.npy", npy("<i8", "(1,)", raw(std::vector<int64_t>{-1})), 0, 1).error().found, "id -1");
}

TEST_F(TokenIds, TooFewSaySo) {
    const std::string text = raw(std::vector<int32_t>{1, 2, 3});
    EXPECT_EQ(read("a.bin", text, 1, 3).error().text(),
              at("a.bin").string() + ": holds 3 token ids; allowed: 3 or more from id 1 on");
    EXPECT_FALSE(read("a.bin", text, 4, 0));
    EXPECT_FALSE(read("a.bin", text, -1, 1));
    EXPECT_FALSE(read("a.bin", text, INT64_MAX, INT64_MAX));
    EXPECT_EQ(read("a.bin", "12345", 0, 1).error().found, "5 bytes");
}

TEST_F(TokenIds, FilesThatAreNotOfTheFormat) {
    const std::string one = raw(std::vector<int32_t>{1});
    EXPECT_EQ(read("a.npy", one, 0, 1).error().found, "does not begin as a .npy file");
    EXPECT_EQ(read("a.npy", npy("<f4", "(1,)", one), 0, 1).error().found, "dtype '<f4'");
    EXPECT_EQ(read("a.npy", npy("<i4", "(1, 1)", one), 0, 1).error().found, "shape (1, 1)");
    EXPECT_EQ(read("a.npy", npy("<i4", "()", one), 0, 1).error().found, "shape ()");
    EXPECT_EQ(read("a.npy", npy("<i4", "(99999999999999999999,)", one), 0, 1).error().found,
              "shape (99999999999999999999,)");
    EXPECT_EQ(read("a.npy", npy("<i4", "(2,)", one), 0, 1).error().found, "fewer bytes than its 2 ids take");
    EXPECT_EQ(read("a.npy", npy("<i4", "(1,)", one, 4), 0, 1).error().found, "version 4");
    EXPECT_EQ(read("a.npy", npy("<i4", "(1,)", one).substr(0, 60), 0, 1).error().found,
              "a header longer than the file");
    EXPECT_FALSE(read("a.npy", npy("<i4", "", one), 0, 1));
    EXPECT_EQ(read_token_ids(at("none"), Tokens(0), Tokens(1), 10).error().found, "does not exist");
}

TEST(RandomTokenIds, GoOnWhereTheyEnded) {
    const auto whole = random_token_ids(3, Tokens(0), Tokens(100), 152064);
    const auto rest = random_token_ids(3, Tokens(60), Tokens(40), 152064);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), whole.begin() + 60));
    EXPECT_NE(whole, random_token_ids(4, Tokens(0), Tokens(100), 152064));
    EXPECT_GT(*std::max_element(whole.begin(), whole.end()), 100000);
}

}  // namespace
}  // namespace headroom
