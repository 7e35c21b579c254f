#include "gui/paint/compare_list.h"

#include <algorithm>

namespace headroom::gui {
namespace {

// Place of the category in the curve; categories().size(): the tier never has any.
size_t place_of(const MemoryCurve& curve, Category category) {
    const auto& all = curve.categories();
    return static_cast<size_t>(std::find(all.begin(), all.end(), category) - all.begin());
}

std::vector<StepPoint> steps_of(const MemoryCurve& curve, Category category, const TimeAxis& axis) {
    const MemoryList list = list_of(curve, axis);
    const size_t place = place_of(curve, category);
    std::vector<StepPoint> steps;
    for (size_t i = 0; i < list.columns.size(); ++i) {
        const MemoryColumn& column = list.columns[i];
        int64_t bytes = column.total_bytes;
        if (category != Category::count_) bytes = place < list.categories ? list.bytes_of(i)[place] : 0;
        if (steps.empty() || steps.back().bytes != bytes) steps.push_back({column.x, bytes});
    }
    return steps;
}

}  // namespace

std::vector<Stream> CompareTracks::streams() const {
    std::vector<Stream> found;
    for (size_t s = 0; s < kStreams; ++s) {
        const auto stream = static_cast<Stream>(s);
        if (predicted.place_of(stream) < predicted.lanes.size() ||
            measured.place_of(stream) < measured.lanes.size())
            found.push_back(stream);
    }
    return found;
}

CompareTracks make_tracks(std::shared_ptr<const Timeline> predicted, const OpsByStream& predicted_streams,
                          std::shared_ptr<const Timeline> measured, const OpsByStream& measured_streams) {
    CompareTracks tracks;
    for (size_t t = 0; t < kTiers; ++t) {
        MemoryCurve p(*predicted, static_cast<Tier>(t)), m(*measured, static_cast<Tier>(t));
        if (p.empty() && m.empty()) continue;
        tracks.predicted_memory.push_back(std::move(p));
        tracks.measured_memory.push_back(std::move(m));
    }
    tracks.predicted = make_lanes(std::move(predicted), predicted_streams, {});
    tracks.measured = make_lanes(std::move(measured), measured_streams, {});
    return tracks;
}

CompareList list_of(const CompareTracks& tracks, Category category, const TimeAxis& axis) {
    CompareList list;
    list.axis = axis;
    list.predicted = list_of(tracks.predicted, nullptr, axis);
    list.measured = list_of(tracks.measured, nullptr, axis);
    for (size_t i = 0; i < tracks.predicted_memory.size(); ++i) {
        int64_t most = 1;
        for (const bool first : {true, false}) {
            const MemoryCurve& curve = first ? tracks.predicted_memory[i] : tracks.measured_memory[i];
            (first ? list.predicted_memory : list.measured_memory).push_back(steps_of(curve, category, axis));
            if (category == Category::count_) most = std::max(most, curve.total_bytes(curve.peak()));
        }
        // A category has no pyramid of its own: the scale is that of what is in view.
        if (category != Category::count_) {
            for (const auto* steps : {&list.predicted_memory[i], &list.measured_memory[i]})
                for (const StepPoint& p : *steps) most = std::max(most, p.bytes);
        }
        list.most_bytes.push_back(most);
        int64_t least = most;
        for (const auto* steps : {&list.predicted_memory[i], &list.measured_memory[i]}) {
            for (const StepPoint& p : *steps) least = std::min(least, p.bytes);
        }
        const bool flat = least == most;
        list.least_bytes.push_back(flat || 2 * least < most ? 0 : least - (most - least) / 4);
    }
    return list;
}

}  // namespace headroom::gui
