// zlib behind the gzip functions of file.h and gunzip.h.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "base/file.h"
#include "base/gunzip.h"

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

struct Gunzip::State {
    std::string_view packed;
    std::string where;
    int64_t left_bytes = 0, limit_bytes = 0;
    z_stream stream = {};
    bool begun = false, ended = false;
};

Gunzip::Gunzip(std::string_view packed, std::string where, int64_t limit_bytes)
    : state_(std::make_unique<State>()) {
    state_->packed = packed;
    state_->where = std::move(where);
    state_->left_bytes = state_->limit_bytes = limit_bytes;
    if (inflateInit2(&state_->stream, kGzip) != Z_OK) throw std::bad_alloc();
}

Gunzip::~Gunzip() {
    inflateEnd(&state_->stream);
}

Result<size_t> Gunzip::next(std::span<char> into) {
    State& s = *state_;
    const auto wrong = [&](const std::string& found) { return fail(s.where, found, "a whole gzip file"); };
    if (!std::exchange(s.begun, true) && !s.packed.starts_with("\x1f\x8b")) return wrong("is not gzip");
    size_t done = 0;
    while (done < into.size() && !s.ended) {
        feed(s.stream, s.packed);
        s.stream.next_out = reinterpret_cast<Bytef*>(into.data() + done);
        const auto room =
            static_cast<uInt>(std::min<size_t>(into.size() - done, std::numeric_limits<uInt>::max()));
        s.stream.avail_out = room;
        const int state = inflate(&s.stream, Z_NO_FLUSH);
        const size_t n = room - s.stream.avail_out;
        if (static_cast<int64_t>(n) > s.left_bytes)
            return fail(s.where, "inflates to more than " + std::to_string(s.limit_bytes) + " bytes",
                        "at most " + std::to_string(s.limit_bytes) + " bytes");
        s.left_bytes -= static_cast<int64_t>(n);
        done += n;
        const bool is_all = s.stream.avail_in == 0 && s.packed.empty();
        if (state == Z_STREAM_END) {
            s.ended = is_all;
            // RFC 1952, 2.2: members may follow each other.
            if (!is_all && inflateReset(&s.stream) != Z_OK) return wrong("cannot be unpacked");
            continue;
        }
        if (state == Z_MEM_ERROR) throw std::bad_alloc();
        if (state == Z_BUF_ERROR || (state == Z_OK && n == 0 && is_all)) return wrong("is cut short");
        if (state != Z_OK)
            return wrong(std::string("is damaged: ") + (s.stream.msg ? s.stream.msg : "not gzip"));
    }
    return done;
}

Result<std::string> gunzip(std::string_view packed, const std::string& where, int64_t limit_bytes) {
    Gunzip unpacked(packed, where, limit_bytes);
    std::string content;
    std::string piece(kPiece, '\0');
    while (true) {
        HEADROOM_TRY(const size_t n, unpacked.next(piece));
        if (n == 0) return content;
        content.append(piece, 0, n);
    }
}

}  // namespace headroom
