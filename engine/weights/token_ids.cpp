#include "weights/token_ids.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weights/mapped_file.h"
#include "weights/random.h"

namespace headroom {
namespace {

using Bytewise = std::span<const std::byte>;

// Ids as they lie in a file.
struct StoredIds {
    Bytewise data;
    size_t width = 4;  // bytes of one
    int64_t count = 0;
};

int64_t little_endian(Bytewise bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
    return static_cast<int64_t>(value);
}

// What follows "'key':" in the dictionary of a .npy header, without spaces before it; empty if the key is
// absent.
std::string_view value_of(std::string_view dictionary, const std::string& key) {
    const size_t at = dictionary.find("'" + key + "':");
    if (at == std::string_view::npos) return {};
    std::string_view rest = dictionary.substr(at + key.size() + 3);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return rest;
}

// "(123,)" -> 123: one dimension.
std::optional<int64_t> one_dimension(std::string_view shape) {
    int64_t size = 0;
    size_t i = 1;
    if (shape.empty() || shape[0] != '(') return std::nullopt;
    for (; i < shape.size() && std::isdigit(static_cast<unsigned char>(shape[i])) != 0; ++i)
        if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, shape[i] - '0', &size))
            return std::nullopt;
    if (i == 1 || shape.substr(i, 2) != ",)") return std::nullopt;
    return size;
}

// Source: numpy, lib/format: magic, version, header length (2 bytes; 4 from version 2 on), a Python
// dictionary.
Result<StoredIds> read_npy(Bytewise bytes, const std::string& where) {
    constexpr std::string_view magic = "\x93NUMPY";
    const auto malformed = [&](const std::string& found) {
        return fail(where, found, "a .npy file: one dimension, dtype <u4, <i4 or <i8");
    };
    if (bytes.size() < 12 || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
        return malformed("does not begin as a .npy file");
    const int version = std::to_integer<int>(bytes[6]);
    if (version < 1 || version > 3) return malformed("version " + std::to_string(version));
    const size_t begin = version == 1 ? 10 : 12;
    const auto length = static_cast<size_t>(little_endian(bytes.subspan(8, begin - 8)));
    if (length > bytes.size() - begin) return malformed("a header longer than the file");
    const std::string_view dictionary(reinterpret_cast<const char*>(bytes.data()) + begin, length);

    const std::string_view descr = value_of(dictionary, "descr").substr(0, 5);
    if (descr != "'<u4'" && descr != "'<i4'" && descr != "'<i8'")
        return malformed("dtype " + std::string(descr));
    const std::string_view shape = value_of(dictionary, "shape");
    const std::optional<int64_t> count = one_dimension(shape);
    if (!count) return malformed("shape " + std::string(shape.substr(0, shape.find(')') + 1)));
    StoredIds ids{
        .data = bytes.subspan(begin + length), .width = descr == "'<i8'" ? 8U : 4U, .count = *count};
    if (*count > static_cast<int64_t>(ids.data.size() / ids.width))
        return malformed("fewer bytes than its " + std::to_string(*count) + " ids take");
    return ids;
}

Result<StoredIds> read_raw(Bytewise bytes, const std::string& where) {
    if (bytes.size() % 4 != 0)
        return fail(where, std::to_string(bytes.size()) + " bytes",
                    "raw uint32 (a multiple of 4 bytes), or .npy");
    return StoredIds{.data = bytes, .width = 4, .count = static_cast<int64_t>(bytes.size() / 4)};
}

Result<StoredIds> find_ids(const MappedFile& file, const std::filesystem::path& path) {
    return path.extension() == ".npy" ? read_npy(file.bytes(), path.string())
                                      : read_raw(file.bytes(), path.string());
}

}  // namespace

Result<Tokens> count_token_ids(const std::filesystem::path& path) {
    HEADROOM_TRY(const MappedFile file, MappedFile::open(path));
    HEADROOM_TRY(const StoredIds stored, find_ids(file, path));
    return Tokens(stored.count);
}

Result<std::vector<int32_t>> read_token_ids(const std::filesystem::path& path, Tokens first, Tokens count,
                                            int64_t vocabulary) {
    const std::string where = path.string();
    HEADROOM_TRY(const MappedFile file, MappedFile::open(path));
    HEADROOM_TRY(const StoredIds stored, find_ids(file, path));
    const int64_t begin = first.count();
    if (begin < 0 || count.count() < 0 || begin > stored.count || count.count() > stored.count - begin)
        return fail(where, "holds " + std::to_string(stored.count) + " token ids",
                    std::to_string(count.count()) + " or more from id " + std::to_string(begin) + " on");

    std::vector<int32_t> ids(static_cast<size_t>(count.count()));
    const Bytewise data = stored.data.subspan(static_cast<size_t>(begin) * stored.width);
    // A negative int32 reads as a large number here, and is refused like one.
    const int64_t end = std::min<int64_t>(vocabulary, std::numeric_limits<int32_t>::max());
    for (size_t i = 0; i < ids.size(); ++i) {
        const int64_t id = little_endian(data.subspan(i * stored.width, stored.width));
        if (id < 0 || id >= end)
            return fail(where + ", token " + std::to_string(begin + static_cast<int64_t>(i)),
                        "id " + std::to_string(id), "0 to " + std::to_string(end - 1));
        ids[i] = static_cast<int32_t>(id);
    }
    return ids;
}

std::vector<int32_t> random_token_ids(uint64_t seed, Tokens first, Tokens count, int64_t vocabulary) {
    return random_ids("token ids", seed, first.count(), count.count(), static_cast<int32_t>(vocabulary));
}

}  // namespace headroom
