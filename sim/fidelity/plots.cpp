// Pictures of a suite's results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/xml.h"
#include "fidelity/report.h"

namespace headroom::fidelity {
namespace {

// Distinct also for those who see red and green alike (Okabe and Ito's palette).
constexpr const char* kFit = "#0072b2";
constexpr const char* kUnseen = "#d55e00";

const char* colour_of(Half half) {
    return half == Half::fit ? kFit : kUnseen;
}

std::string begin(double width, double height, const std::string& title) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" "
        "fill=\"#ffffff\"/>\n"
        "<text x=\"20\" y=\"24\" font-size=\"16\">{2}</text>\n"
        "<circle cx=\"26\" cy=\"42\" r=\"4\" fill=\"{3}\"/><text x=\"36\" y=\"46\">may serve to fit</text>\n"
        "<circle cx=\"146\" cy=\"42\" r=\"4\" fill=\"{4}\"/><text x=\"156\" y=\"46\">unseen</text>\n",
        width, height, escape_xml(title), kFit, kUnseen);
}

std::vector<const Entry*> judged(const Results& r) {
    std::vector<const Entry*> out;
    for (const Entry& e : r.entries)
        if (e.judgeable() && e.run->figures.step_ns > 0 && e.prediction->figures.step_ns > 0)
            out.push_back(&e);
    return out;
}

}  // namespace

std::string step_svg(const Results& r) {
    constexpr double kSize = 520, kLeft = 70, kTop = 66, kPlot = 400;
    const std::vector<const Entry*> entries = judged(r);
    double low = 1e30, high = 1e-9;
    for (const Entry* e : entries) {
        for (const int64_t ns : {e->prediction->figures.step_ns, e->run->figures.step_ns}) {
            low = std::min(low, static_cast<double>(ns) * 1e-9);
            high = std::max(high, static_cast<double>(ns) * 1e-9);
        }
    }
    if (entries.empty()) low = 0.1, high = 1;
    low = std::pow(10, std::floor(std::log10(low)));
    high = std::max(low * 10, std::pow(10, std::ceil(std::log10(high))));
    const auto along = [&](double s) {
        return (std::log10(s) - std::log10(low)) / (std::log10(high) - std::log10(low));
    };
    const auto x = [&](double s) { return kLeft + kPlot * along(s); };
    const auto y = [&](double s) { return kTop + kPlot * (1 - along(s)); };

    std::string svg = begin(kSize, kSize, "Step time, predicted against measured (s)");
    for (double v = low; v <= high * 1.001; v *= 10) {
        svg += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#dddddd\"/>\n"
            "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4:g}</text>\n",
            x(v), kTop, kTop + kPlot, kTop + kPlot + 18, v);
        svg += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#dddddd\"/>\n"
            "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
            kLeft, kLeft + kPlot, y(v), kLeft - 7, y(v) + 4, v);
    }
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#888888\"/>\n",
                       x(low), y(low), x(high), y(high));
    for (const Entry* e : entries) {
        svg += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" fill-opacity=\"0.8\"><title>{}</title>"
            "</circle>\n",
            x(static_cast<double>(e->run->figures.step_ns) * 1e-9),
            y(static_cast<double>(e->prediction->figures.step_ns) * 1e-9), colour_of(e->plan.half),
            escape_xml(e->plan.name));
    }
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">measured</text>\n"
        "<text x=\"16\" y=\"{:.1f}\" transform=\"rotate(-90 16 {:.1f})\" "
        "text-anchor=\"middle\">predicted</text>\n</svg>\n",
        kLeft + kPlot / 2, kTop + kPlot + 38, kTop + kPlot / 2, kTop + kPlot / 2);
    return svg;
}

std::string error_svg(const Results& r, const Bounds& bounds) {
    constexpr double kWidth = 860, kLeft = 330, kTop = 74, kRow = 18, kRight = 60;
    const std::vector<const Entry*> entries = judged(r);
    double most = 1.5 * bounds.step_worst;
    for (const Entry* e : entries) most = std::max(most, 1.05 * std::abs(e->step_error()));
    const double bottom = kTop + kRow * static_cast<double>(entries.size());
    const auto x = [&](double error) {
        return kLeft + (kWidth - kRight - kLeft) * (error + most) / (2 * most);
    };

    std::string svg = begin(kWidth, bottom + 46, "Error of the step time (predicted over measured, less 1)");
    for (const double bound :
         {-bounds.step_worst, -bounds.step_median, 0.0, bounds.step_median, bounds.step_worst}) {
        svg += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"{4}/>\n"
            "<text x=\"{0:.1f}\" y=\"{5:.1f}\" text-anchor=\"middle\">{6:+.0f} %</text>\n",
            x(bound), kTop - 6, bottom, bound == 0 ? "#888888" : "#aa0000",
            bound == 0 ? "" : " stroke-dasharray=\"6 4\"", bottom + 18, 100 * bound);
    }
    for (size_t i = 0; i < entries.size(); ++i) {
        const Entry& e = *entries[i];
        const double y = kTop + kRow * (static_cast<double>(i) + 0.5), end = x(e.step_error());
        svg += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n"
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"10\" fill=\"{}\"/>\n",
            kLeft - 10, y + 4, escape_xml(e.plan.name), std::min(end, x(0)), y - 5, std::abs(end - x(0)),
            colour_of(e.plan.half));
    }
    return svg + "</svg>\n";
}

}  // namespace headroom::fidelity
