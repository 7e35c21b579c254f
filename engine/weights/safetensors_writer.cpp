#include "weights/safetensors_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "base/units.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot_write(const fs::path& path, int error) {
    return fail(path.string(), "cannot be written: " + std::generic_category().message(error),
                "a path in a folder that can be written, on a disk with room", Fault::run_failed);
}

// Beside the target, so that the rename stays within one file system.
std::string temporary_beside(const fs::path& target) {
    static std::atomic<int> serial{0};
    return (target.parent_path() / ("." + target.filename().string().substr(0, 200) + "." +
                                    std::to_string(getpid()) + "-" + std::to_string(serial++) + ".part"))
        .string();
}

Result<int64_t> bytes_of_tensor(const TensorSpec& tensor, const std::string& where) {
    int64_t elements = 1;
    for (const int64_t size : tensor.shape)
        if (size < 0 || __builtin_mul_overflow(elements, size, &elements))
            return fail(where, "a size of " + std::to_string(size), "sizes from 0 whose product fits 2^63");
    try {
        return bytes_of(tensor.dtype, elements).count();
    } catch (const Overflow& overflow) {
        return fail(where, overflow.what(), "fewer bytes");
    }
}

struct Layout {
    std::string header;  // its size included
    int64_t bytes = 0;   // of the data
};

Result<Layout> lay_out(const fs::path& path, std::span<const TensorSpec> tensors, const Metadata& metadata) {
    Layout layout;
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::set<std::string_view> names;
    for (const TensorSpec& tensor : tensors) {
        const std::string where = path.string() + ", tensor '" + tensor.name + "'";
        if (!names.insert(tensor.name).second || tensor.name == "__metadata__")
            return fail(where, "a name that is taken", "each name once");
        const std::optional<std::string_view> dtype = safetensors_dtype(tensor.dtype);
        if (!dtype)
            return fail(where, std::string(name_of(tensor.dtype)), "fp64, fp32, bf16, fp16, fp8, int8");
        HEADROOM_TRY(const int64_t bytes, bytes_of_tensor(tensor, where));
        const int64_t begin = layout.bytes;
        if (__builtin_add_overflow(layout.bytes, bytes, &layout.bytes))
            return fail(where, "a file of more than 2^63 bytes", "fewer bytes");
        header[tensor.name] = {
            {"dtype", *dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, layout.bytes}}};
    }
    // A name that is no UTF-8 must not throw.
    std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    text.resize(static_cast<size_t>(round_up(static_cast<int64_t>(text.size()), 8)), ' ');  // aligns the data
    for (size_t i = 0; i < 8; ++i) layout.header += static_cast<char>((text.size() >> (8 * i)) & 0xFFU);
    layout.header += text;
    return layout;
}

}  // namespace

struct SafetensorsWriter::Descriptor {
    int fd;
    explicit Descriptor(int descriptor) : fd(descriptor) {}
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

SafetensorsWriter::SafetensorsWriter(fs::path path, int fd, std::unique_ptr<TemporaryName> temporary,
                                     int64_t left)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      out_(std::make_unique<Descriptor>(fd)),
      left_(left) {}

SafetensorsWriter::SafetensorsWriter(SafetensorsWriter&& other) noexcept = default;

SafetensorsWriter::~SafetensorsWriter() = default;

Result<SafetensorsWriter> SafetensorsWriter::open(const fs::path& path, std::span<const TensorSpec> tensors,
                                                  const Metadata& metadata) {
    HEADROOM_TRY(const Layout layout, lay_out(path, tensors, metadata));
    if (!path.has_filename() || fs::is_directory(path)) return cannot_write(path, EISDIR);
    auto temporary = std::make_unique<TemporaryName>(temporary_beside(path));
    const int fd = ::open(temporary->path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return cannot_write(path, errno);
    SafetensorsWriter writer(path, fd, std::move(temporary), layout.bytes);
    const int64_t total = checked_add(static_cast<int64_t>(layout.header.size()), layout.bytes);
    // Some file systems cannot reserve; there a full disk shows at append().
    if (fallocate(fd, 0, 0, total) != 0 && (errno == ENOSPC || errno == EFBIG || errno == EDQUOT))
        return fail(path.string(),
                    std::to_string(total) + " bytes find no room: " + std::generic_category().message(errno),
                    "a disk with that much room", Fault::run_failed);
    HEADROOM_CHECK(writer.write(std::as_bytes(std::span(layout.header))));
    return writer;
}

Result<void> SafetensorsWriter::write(std::span<const std::byte> data) {
    constexpr size_t kPiece = size_t{8} << 20;  // small enough that an interrupt is seen soon
    while (!data.empty()) {
        if (interrupted()) return fail(path_.string(), "interrupted", {}, Fault::interrupted);
        const ssize_t written = ::write(out_->fd, data.data(), std::min(data.size(), kPiece));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return cannot_write(path_, errno);
        data = data.subspan(static_cast<size_t>(written));
    }
    return {};
}

Result<void> SafetensorsWriter::append(std::span<const std::byte> data) {
    const auto size = static_cast<int64_t>(data.size());
    if (size > left_)
        return fail(path_.string(), std::to_string(size) + " bytes more of data",
                    std::to_string(left_) + ", as announced");
    HEADROOM_CHECK(write(data));
    left_ -= size;
    return {};
}

Result<void> SafetensorsWriter::finish() {
    if (left_ != 0) return fail(path_.string(), std::to_string(left_) + " bytes of data are missing", "none");
    // A full disk may show only here.
    if (::close(std::exchange(out_->fd, -1)) != 0) return cannot_write(path_, errno);
    if (::rename(temporary_->path().c_str(), path_.c_str()) != 0) return cannot_write(path_, errno);
    temporary_->keep();
    return {};
}

}  // namespace headroom
