// Pages whose home is the disk. They pass through one of two buffers on the host, in turn: a read fills it
// before the load that takes the pages on, a store fills it before the write (program/past.cpp).
#include "run/step_state.h"

#include <utility>

namespace headroom::engine {

static_assert(PageFile::kAligned == kDiskAlignment);

bool disk_is_aligned(const Plan& plan) {
    return page_units(plan).bytes / 2 % PageFile::kAligned == 0;  // K, or V, of a unit
}

const PageTable& Executor::State::home_of(PageKind kind, int64_t page) const {
    const Decisions& d = plan.decisions;
    const Residency& r = kind == PageKind::kv ? d.kv_residency : d.kv_gradient_residency;
    switch (past_place(plan, r, layer_, page * d.page.count())) {
        case PastPlace::device:
            return pages_;
        case PastPlace::host:
            return host_pages_;
        case PastPlace::disk:
            break;
    }
    return disk_pages_;
}

PageTable& Executor::State::home_of(PageKind kind, int64_t page) {
    return const_cast<PageTable&>(std::as_const(*this).home_of(kind, page));
}

std::byte* Executor::State::away(const PageTable& home, int64_t unit, int64_t place, int half) const {
    return &home == &disk_pages_ ? unit_in(bounce_slots_.last_slot(), place, half)
                                 : unit_in("host page pool", unit, half);
}

void Executor::State::add_disk_piece(int64_t unit, int64_t units, int64_t place, int half) {
    const Buffer& pool = need("disk page pool");
    const int64_t bytes = units * unit_bytes(), offset = half * (pool.bytes / 2) + unit * unit_bytes();
    TORCH_CHECK((unit + units) * unit_bytes() <= pool.bytes / 2, "units ", unit, " to ", unit + units,
                " of the disk's pool, which has ", pool.bytes, " bytes");
    std::byte* const data = unit_in(bounce_slots_.last_slot(), place, half);
    static_cast<void>(unit_in(bounce_slots_.last_slot(), place + units - 1, half));  // all of it is there
    if (!disk_pieces_.empty()) {
        PageFile::Piece& last = disk_pieces_.back();
        if (last.offset + last.bytes == pool.address + offset && last.data + last.bytes == data) {
            last.bytes += bytes;
            return;
        }
    }
    disk_pieces_.push_back({pool.address + offset, data, bytes});
}

// Of the load that comes next. Where attention is dense they stand as in the slot that they are loaded to,
// where it is sparse one after the other.
Result<void> Executor::State::read_from_disk() {
    const Op& load = program.ops.at(op_ + 1);
    const PageKind kind = load.kind == OpKind::load_pages ? PageKind::kv : PageKind::gradient;
    bounce_slots_.next();
    disk_pieces_.clear();
    const int64_t parts = disk_pages_.parts(kind);
    for (int half = 0; half < 2; ++half) {
        if (!selects_pages(plan, layer_)) {
            const auto [first, last] = pages_of_load(load);
            for (const PageRun& run : disk_pages_.runs(kind, layer_, first, last))
                add_disk_piece(run.unit, run.count, run.first - first * parts, half);
            continue;
        }
        int64_t place = 0;
        for (const PlacedPage& p : selected_to_load(load)) {
            if (!disk_pages_.has(kind, layer_, p.page)) continue;
            for (int64_t part = 0; part < parts; ++part)
                add_disk_piece(disk_pages_.unit(kind, layer_, p.page, part), 1, place++, half);
        }
    }
    run_on_disk(false);
    return {};
}

// What the store before it left in the buffer.
Result<void> Executor::State::write_to_disk() {
    run_on_disk(true);
    return {};
}

void Executor::State::run_on_disk(bool write) {
    if (disk_pieces_.empty()) return streams->run_aside({});
    for (const PageFile::Piece& p : disk_pieces_) (write ? disk_written_bytes : disk_read_bytes) += p.bytes;
    streams->run_aside([this, op = op_, write, pieces = std::move(disk_pieces_)] {
        if (disk_failed_) return;  // what comes after it would only fail again
        const Result<void> done = write ? disk->write(pieces) : disk->read(pieces);
        if (done) return;
        disk_error_ = done.error();
        disk_error_.where = place_of(op) + ", " + disk_error_.where;
        disk_failed_ = true;
    });
    disk_pieces_.clear();
}

Result<void> Executor::State::disk_state() const {
    if (!disk_failed_) return {};
    return tl::unexpected<Error>(disk_error_);
}

}  // namespace headroom::engine
