// zlib behind the gzip functions of file.h.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <new>

#include "base/file.h"

namespace headroom {
namespace {

constexpr int kGzip = 15 + 16;  // window bits of zlib's gzip form, largest window
constexpr int kLevel = 6;
constexpr int kUnknownSystem = 255;  // RFC 1952, OS: the same bytes from every system
constexpr size_t kPiece = size_t{256} << 10;

// zlib counts input in 32 bits: hands it the next part of `rest`.
void feed(z_stream& stream, std::string_view& rest) {
    if (stream.avail_in > 0) return;
    const size_t n = std::min<size_t>(rest.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    stream.avail_in = static_cast<uInt>(n);
    rest.remove_prefix(n);
}

}  // namespace

std::string gzip(std::string_view content) {
    z_stream stream = {};
    if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, deflateEnd);
    gz_header header = {};
    header.os = kUnknownSystem;
    deflateSetHeader(&stream, &header);

    std::string packed;
    std::string piece(kPiece, '\0');
    int state = Z_OK;
    while (state != Z_STREAM_END) {
        feed(stream, content);
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        state = deflate(&stream, content.empty() ? Z_FINISH : Z_NO_FLUSH);
        packed.append(piece, 0, piece.size() - stream.avail_out);
    }
    return packed;
}

Result<std::string> gunzip(std::string_view packed, const std::string& where, int64_t limit_bytes) {
    const auto wrong = [&](const std::string& found) { return fail(where, found, "a whole gzip file"); };
    if (!packed.starts_with("\x1f\x8b")) return wrong("is not gzip");
    z_stream stream = {};
    if (inflateInit2(&stream, kGzip) != Z_OK) throw std::bad_alloc();
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);

    std::string content;
    std::string piece(kPiece, '\0');
    while (true) {
        feed(stream, packed);
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        const int state = inflate(&stream, Z_NO_FLUSH);
        const size_t n = piece.size() - stream.avail_out;
        if (static_cast<int64_t>(n) > limit_bytes - static_cast<int64_t>(content.size()))
            return fail(where, "inflates to more than " + std::to_string(limit_bytes) + " bytes",
                        "at most " + std::to_string(limit_bytes) + " bytes");
        content.append(piece, 0, n);
        const bool is_all = stream.avail_in == 0 && packed.empty();
        if (state == Z_STREAM_END) {
            if (is_all) return content;
            // RFC 1952, 2.2: members may follow each other.
            if (inflateReset(&stream) != Z_OK) return wrong("cannot be unpacked");
            continue;
        }
        if (state == Z_MEM_ERROR) throw std::bad_alloc();
        if (state == Z_BUF_ERROR || (state == Z_OK && n == 0 && is_all)) return wrong("is cut short");
        if (state != Z_OK) return wrong(std::string("is damaged: ") + (stream.msg ? stream.msg : "not gzip"));
    }
}

}  // namespace headroom
