#include "weights/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/units.h"

namespace headroom {
namespace {

using Json = nlohmann::json;

struct Word {
    std::string_view word;
    int64_t bits;
};
constexpr std::array<Word, 14> kWords = {{{"BOOL", 8},
                                          {"U8", 8},
                                          {"I8", 8},
                                          {"F8_E5M2", 8},
                                          {"F8_E4M3", 8},
                                          {"I16", 16},
                                          {"U16", 16},
                                          {"F16", 16},
                                          {"BF16", 16},
                                          {"I32", 32},
                                          {"U32", 32},
                                          {"F32", 32},
                                          {"F64", 64},
                                          {"I64", 64}}};
constexpr std::array<std::pair<Dtype, std::string_view>, 6> kDtypes = {{{Dtype::fp64, "F64"},
                                                                        {Dtype::fp32, "F32"},
                                                                        {Dtype::bf16, "BF16"},
                                                                        {Dtype::fp16, "F16"},
                                                                        {Dtype::fp8, "F8_E4M3"},
                                                                        {Dtype::int8, "I8"}}};

// A whole number >= 0 that fits int64_t.
std::optional<int64_t> size_of(const Json& value) {
    if (!value.is_number_unsigned()) return std::nullopt;
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
}

std::optional<std::vector<int64_t>> sizes_of(const Json& entry, const char* key) {
    const auto list = entry.find(key);
    if (list == entry.end() || !list->is_array()) return std::nullopt;
    std::vector<int64_t> sizes;
    for (const Json& item : *list) {
        const std::optional<int64_t> size = size_of(item);
        if (!size) return std::nullopt;
        sizes.push_back(*size);
    }
    return sizes;
}

// One entry of the header; `data` are all bytes behind it.
Result<StoredTensor> read_entry(const Json& entry, std::span<const std::byte> data,
                                const std::string& where) {
    const auto dtype = entry.is_object() ? entry.find("dtype") : entry.end();
    if (!entry.is_object() || dtype == entry.end() || !dtype->is_string())
        return fail(where, "no dtype", "{\"dtype\": text, \"shape\": sizes, \"data_offsets\": [begin, end]}");
    StoredTensor tensor;
    tensor.dtype = dtype->get<std::string>();
    const auto* const word = std::find_if(kWords.begin(), kWords.end(),
                                          [&](const Word& known) { return known.word == tensor.dtype; });
    if (word == kWords.end())
        return fail(where, "dtype '" + tensor.dtype + "'",
                    "F64, F32, F16, BF16, F8_E4M3, F8_E5M2, I8 to I64, U8, BOOL");

    std::optional<std::vector<int64_t>> shape = sizes_of(entry, "shape");
    if (!shape) return fail(where, "no shape that can be read", "a list of whole numbers from 0");
    tensor.shape = std::move(*shape);
    int64_t bytes = word->bits / 8;
    bool is_empty = false;
    for (const int64_t size : tensor.shape) {
        is_empty = is_empty || size == 0;
        if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes))
            return fail(where, "a shape of more than 2^63 bytes", "one that the file holds");
    }
    if (is_empty) bytes = 0;

    const std::optional<std::vector<int64_t>> offsets = sizes_of(entry, "data_offsets");
    const auto available = static_cast<int64_t>(data.size());
    if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1] || (*offsets)[1] > available)
        return fail(where, "no data_offsets within the file",
                    "[begin, end] with begin <= end <= " + std::to_string(available));
    const int64_t stored = (*offsets)[1] - (*offsets)[0];
    if (stored != bytes)
        return fail(where, std::to_string(stored) + " bytes of data",
                    std::to_string(bytes) + ", as its shape and dtype say");
    tensor.data = data.subspan(static_cast<size_t>((*offsets)[0]), static_cast<size_t>(bytes));
    return tensor;
}

Result<Metadata> read_metadata(const Json& entry, const std::string& where) {
    Metadata metadata;
    if (!entry.is_object()) return fail(where, "'__metadata__' is no object", "an object of texts");
    for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) return fail(where, "'__metadata__', '" + key + "' is no text", "a text");
        metadata.emplace(key, value.get<std::string>());
    }
    return metadata;
}

// The format wants the tensors to cover the data: else a cut or patched file could go unnoticed.
Result<void> check_coverage(const StoredTensors& tensors, std::span<const std::byte> data,
                            const std::string& where) {
    std::vector<std::span<const std::byte>> pieces;
    for (const auto& [name, tensor] : tensors)
        if (!tensor.data.empty()) pieces.push_back(tensor.data);
    std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.data() < b.data(); });
    const std::byte* next = data.data();
    for (const auto& piece : pieces) {
        if (piece.data() != next)
            return fail(where,
                        std::string(piece.data() < next ? "tensors that overlap" : "a gap between tensors") +
                            " at byte " + std::to_string(std::min(piece.data(), next) - data.data()) +
                            " of the data",
                        "tensors side by side");
        next = piece.data() + piece.size();
    }
    const auto left = data.size() - static_cast<size_t>(next - data.data());
    if (left != 0) return fail(where, std::to_string(left) + " bytes behind the last tensor", "none");
    return {};
}

}  // namespace

std::optional<std::string_view> safetensors_dtype(Dtype dtype) {
    for (const auto& [known, word] : kDtypes)
        if (known == dtype) return word;
    return std::nullopt;
}

std::optional<Dtype> dtype_of_safetensors(std::string_view word) {
    for (const auto& [dtype, known] : kDtypes)
        if (known == word) return dtype;
    return std::nullopt;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
    HEADROOM_TRY(MappedFile mapped, MappedFile::open(path));
    SafetensorsFile file(path, std::move(mapped));
    HEADROOM_CHECK(file.read_header());
    return file;
}

Result<void> SafetensorsFile::read_header() {
    constexpr uint64_t kLargestHeader = 100'000'000;
    const std::string where = path_.string();
    const std::span<const std::byte> bytes = file_.bytes();
    if (bytes.size() < 8)
        return fail(where, "has " + std::to_string(bytes.size()) + " bytes",
                    "a safetensors file (8 bytes at least)");
    uint64_t size = 0;
    for (size_t i = 0; i < 8; ++i) size |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
    const uint64_t most = std::min<uint64_t>(bytes.size() - 8, kLargestHeader);
    if (size > most)
        return fail(where, "a header of " + std::to_string(size) + " bytes",
                    "a safetensors file: at most " + std::to_string(most) + " here");
    const auto* const text = reinterpret_cast<const char*>(bytes.data()) + 8;
    const Json header = Json::parse(text, text + size, nullptr, /*allow_exceptions=*/false);
    if (!header.is_object()) return fail(where, "a header that is no JSON object", "a safetensors file");

    const std::span<const std::byte> data = bytes.subspan(8 + size);
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__") {
            HEADROOM_TRY(metadata_, read_metadata(entry, where));
            continue;
        }
        HEADROOM_TRY(StoredTensor tensor, read_entry(entry, data, where + ", tensor '" + name + "'"));
        tensors_.emplace(name, std::move(tensor));
    }
    return check_coverage(tensors_, data, where);
}

}  // namespace headroom
