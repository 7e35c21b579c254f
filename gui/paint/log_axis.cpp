#include "gui/paint/log_axis.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace headroom::gui {
namespace {

struct Known {
    double ns;
    const char* text;
};
// Nanoseconds to a year; each is about ten times the one before.
constexpr Known kTimes[] = {{1, "1 ns"},        {10, "10 ns"},        {100, "100 ns"},  {1e3, "1 us"},
                            {1e4, "10 us"},     {1e5, "100 us"},      {1e6, "1 ms"},    {1e7, "10 ms"},
                            {1e8, "100 ms"},    {1e9, "1 s"},         {1e10, "10 s"},   {6e10, "1 min"},
                            {6e11, "10 min"},   {3.6e12, "1 h"},      {3.6e13, "10 h"}, {3.456e14, "4 d"},
                            {3.456e15, "40 d"}, {3.1536e16, "1 year"}};

}  // namespace

double log_position(double value) {
    return std::log2(value);
}

std::vector<Tick> context_ticks(int64_t first, int64_t last, size_t at_most) {
    std::vector<int64_t> powers;
    for (int64_t t = 1; t <= last && t > 0; t *= 2) {
        if (t >= first) powers.push_back(t);
    }
    size_t every = 1;
    while ((powers.size() + every - 1) / every > std::max<size_t>(1, at_most)) every *= 2;
    std::vector<Tick> ticks;
    for (size_t i = 0; i < powers.size(); i += every)
        ticks.push_back({log_position(static_cast<double>(powers[i])),
                         QString::fromStdString(format_tokens(Tokens(powers[i])))});
    return ticks;
}

std::vector<Tick> log_time_ticks(double first_ns, double last_ns) {
    std::vector<Tick> ticks;
    for (const Known& k : kTimes) {
        if (k.ns >= first_ns * (1 - 1e-9) && k.ns <= last_ns * (1 + 1e-9))
            ticks.push_back({log_position(k.ns), QString::fromLatin1(k.text)});
    }
    return ticks;
}

LogRange log_time_range(double least_ns, double most_ns) {
    LogRange range{kTimes[0].ns, std::end(kTimes)[-1].ns};
    for (const Known& k : kTimes) {
        if (k.ns <= least_ns) range.low = k.ns;
    }
    for (const Known& k : kTimes) {
        if (k.ns >= most_ns && k.ns > range.low) {
            range.high = k.ns;
            break;
        }
    }
    return range;
}

}  // namespace headroom::gui
