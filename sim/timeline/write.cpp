// A trace as a gzip file. Only the packed text is held, about a tenth of the JSON text, so that writing it
// whole or not at all can be left to write_file.
#include <zlib.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "timeline/check.h"
#include "timeline/trace_format.h"

namespace headroom {
namespace {

// gzip (RFC 1952) without name and time, its system byte fixed: equal text gives equal bytes.
class GzipWriter {
public:
    GzipWriter() {
        constexpr int kGzipWindow = 15 + 16;
        ready_ = deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, 9, Z_DEFAULT_STRATEGY) == Z_OK;
        header_.os = 255;
        if (ready_) deflateSetHeader(&stream_, &header_);
    }
    ~GzipWriter() {
        if (ready_) deflateEnd(&stream_);
    }
    GzipWriter(const GzipWriter&) = delete;
    GzipWriter& operator=(const GzipWriter&) = delete;

    bool add(std::string_view text, bool last) {
        if (!ready_) return false;
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
        stream_.avail_in = static_cast<uInt>(text.size());
        do {
            stream_.next_out = part_;
            stream_.avail_out = sizeof part_;
            if (deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR) return false;
            packed_.append(reinterpret_cast<const char*>(part_), sizeof part_ - stream_.avail_out);
        } while (stream_.avail_out == 0);
        return true;
    }
    const std::string& packed() const { return packed_; }

private:
    // The text repeats itself so much that the fastest level already takes nine tenths of it away.
    static constexpr int kLevel = 1;
    z_stream stream_{};
    gz_header header_{};
    bool ready_ = false;
    Bytef part_[1 << 16];
    std::string packed_;
};

}  // namespace

Result<void> write_timeline(const Timeline& timeline, const std::filesystem::path& path) {
    HEADROOM_CHECK(check_timeline(timeline, path.string()));
    GzipWriter gzip;
    const bool whole = render_timeline(
        timeline, [&](std::string_view part) { return !interrupted() && gzip.add(part, false); });
    if (interrupted()) return fail(path.string(), "interrupted; nothing was written", {}, Fault::interrupted);
    if (!whole || !gzip.add({}, true))
        return fail(path.string(), "compression failed", {}, Fault::run_failed);
    return write_file(path, gzip.packed());
}

}  // namespace headroom
