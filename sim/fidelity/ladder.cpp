#include "fidelity/ladder.h"

#include <algorithm>
#include <cmath>

namespace headroom::fidelity {

std::vector<Tokens> rung_contexts(const Ladder& ladder, Tokens limit, Tokens page) {
    std::vector<Tokens> out;
    for (const double rung : ladder.rungs) {
        const double pages =
            static_cast<double>(limit.count()) * (1 + rung) / static_cast<double>(page.count());
        const double whole = rung > 0 ? std::ceil(pages - 1e-9) : std::floor(pages + 1e-9);
        out.push_back(Tokens(std::max<int64_t>(1, static_cast<int64_t>(whole)) * page.count()));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

SuitePlan rung_plan(const Ladder& ladder, Tokens context) {
    SuitePlan p;
    p.name = ladder.name + "@" + std::to_string(context.count());
    p.question = ladder.question;
    p.question.set.push_back("context=" + std::to_string(context.count()));
    p.steps = ladder.steps;
    p.no_device_check = true;
    p.ladder = ladder.name;
    p.half = half_of(p.name);
    p.place = ladder.place;
    return p;
}

}  // namespace headroom::fidelity
