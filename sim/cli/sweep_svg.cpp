// The plot of a sweep: three panels over one logarithmic context axis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "base/xml.h"
#include "cli/report.h"

namespace headroom::cli {
namespace {

constexpr double kWidth = 860, kPanel = 210, kLeft = 80, kRight = 20, kTop = 66, kGap = 46, kBottom = 66;
// Distinct also for those who see red and green alike (Okabe and Ito's palette).
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#000000"};

struct Panel {
    std::string title;
    double top = 0, low = 0, high = 1;
    bool logarithmic = false;
    double y(double v) const {
        const double t = logarithmic
                             ? (std::log10(v) - std::log10(low)) / (std::log10(high) - std::log10(low))
                             : (v - low) / (high - low);
        return top + kPanel * (1 - std::clamp(t, 0.0, 1.0));
    }
};

// 1, 2, 5 x 10^n: about five steps up to `high`.
double nice_step(double high) {
    const double raw = high / 5, power = std::pow(10, std::floor(std::log10(raw)));
    for (const double f : {1.0, 2.0, 5.0}) {
        if (f * power >= raw) return f * power;
    }
    return 10 * power;
}

}  // namespace

std::string sweep_svg(const std::vector<SweepPoint>& points, const std::string& title) {
    std::vector<std::string> names;
    std::vector<int64_t> contexts;
    double most[2] = {1, 1}, fastest = 1e30, slowest = 1e-9;
    int64_t budget[2] = {0, 0};
    for (const SweepPoint& p : points) {
        if (std::find(names.begin(), names.end(), p.strategy) == names.end()) names.push_back(p.strategy);
        if (std::find(contexts.begin(), contexts.end(), p.context.count()) == contexts.end())
            contexts.push_back(p.context.count());
        if (!p.runs) continue;
        for (size_t t = 0; t < 2; ++t) {
            budget[t] = std::max(budget[t], p.budget_bytes[t]);
            most[t] = std::max(most[t], static_cast<double>(p.need_bytes[t]) / static_cast<double>(kGiB));
        }
        const double s = static_cast<double>(p.step_ns) * 1e-9;
        fastest = std::min(fastest, s);
        slowest = std::max(slowest, s);
    }
    std::sort(contexts.begin(), contexts.end());
    const double x0 = std::log2(static_cast<double>(contexts.front())),
                 x1 = std::max(x0 + 1e-9, std::log2(static_cast<double>(contexts.back())));
    const auto x = [&](int64_t c) {
        const double span = contexts.size() == 1 ? 0.5 : (std::log2(static_cast<double>(c)) - x0) / (x1 - x0);
        return kLeft + span * (kWidth - kLeft - kRight);
    };
    Panel panels[3];
    for (size_t t = 0; t < 2; ++t) {
        const double b = static_cast<double>(budget[t]) / static_cast<double>(kGiB);
        panels[t].title = t == 0 ? "device memory (GiB)" : "host memory (GiB)";
        panels[t].high = std::min(most[t], 2 * std::max(b, 1.0)) * 1.08;
        panels[t].high = std::max(panels[t].high, b * 1.08);
    }
    panels[2].title = "step time (s)";
    panels[2].logarithmic = true;
    panels[2].low = std::pow(10, std::floor(std::log10(std::min(fastest, slowest))));
    panels[2].high = std::pow(10, std::ceil(std::log10(std::max(slowest, panels[2].low * 1.01))));
    for (size_t i = 0; i < 3; ++i) panels[i].top = kTop + static_cast<double>(i) * (kPanel + kGap);
    const double height = kTop + 3 * kPanel + 2 * kGap + kBottom;

    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n<text x=\"{2}\" y=\"24\" "
        "font-size=\"16\">{3}</text>\n",
        kWidth, height, kLeft, escape_xml(title));
    for (size_t i = 0; i < names.size(); ++i) {
        const double at = kLeft + 145 * static_cast<double>(i);
        svg += fmt::format(
            "<rect x=\"{}\" y=\"36\" width=\"12\" height=\"4\" fill=\"{}\"/><text x=\"{}\" "
            "y=\"43\">{}</text>\n",
            at, kColours[i % std::size(kColours)], at + 17, escape_xml(names[i]));
    }
    for (size_t i = 0; i < 3; ++i) {
        const Panel& p = panels[i];
        svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" font-weight=\"bold\">{}</text>\n", kLeft, p.top - 7,
                           p.title);
        std::vector<double> ticks;
        if (p.logarithmic) {
            for (double v = p.low; v <= p.high * 1.001; v *= 10) ticks.push_back(v);
        } else {
            for (double v = 0; v <= p.high; v += nice_step(p.high)) ticks.push_back(v);
        }
        for (const double v : ticks) {
            svg += fmt::format(
                "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/><text x=\"{}\" "
                "y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n",
                kLeft, p.y(v), kWidth - kRight, p.y(v), kLeft - 7, p.y(v) + 4, v);
        }
        // About eight labels whatever the number of contexts.
        const size_t every = contexts.size() / 9 + 1;
        for (size_t c = 0; c < contexts.size(); ++c) {
            svg += fmt::format(
                "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#eeeeee\"/>\n",
                x(contexts[c]), p.top, p.top + kPanel);
            if (i == 2 && c % every == 0) {
                svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                                   x(contexts[c]), p.top + kPanel + 18, format_tokens(Tokens(contexts[c])));
            }
        }
        if (i < 2 && budget[i] > 0) {
            const double y = p.y(static_cast<double>(budget[i]) / static_cast<double>(kGiB));
            svg += fmt::format(
                "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#aa0000\" "
                "stroke-dasharray=\"6 4\"/><text x=\"{}\" y=\"{:.1f}\" fill=\"#aa0000\" "
                "text-anchor=\"end\">budget {}</text>\n",
                kLeft, y, kWidth - kRight, y, kWidth - kRight, y - 4, format_bytes(Bytes(budget[i])));
        }
        for (size_t n = 0; n < names.size(); ++n) {
            const char* colour = kColours[n % std::size(kColours)];
            std::string line;
            for (const SweepPoint& point : points) {
                if (point.strategy != names[n] || !point.runs) continue;
                const double v = i < 2 ? static_cast<double>(point.need_bytes[i]) / static_cast<double>(kGiB)
                                       : static_cast<double>(point.step_ns) * 1e-9;
                line += fmt::format("{:.1f},{:.1f} ", x(point.context.count()), p.y(v));
                // What does not fit is drawn hollow.
                svg +=
                    fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" stroke=\"{}\" fill=\"{}\"/>\n",
                                x(point.context.count()), p.y(v), colour, point.fits ? colour : "#ffffff");
            }
            if (!line.empty())
                svg += fmt::format(
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n", line,
                    colour);
        }
    }
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">context (tokens); hollow: does not "
        "fit</text>\n</svg>\n",
        (kLeft + kWidth - kRight) / 2, height - 20);
    return svg;
}

}  // namespace headroom::cli
