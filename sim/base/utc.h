// The clock on the wall, for what is written down.
#pragma once

#include <ctime>
#include <string>

namespace headroom {

// "2026-11-30T07:15:02Z".
inline std::string utc_now() {
    const std::time_t t = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
    return text;
}

}  // namespace headroom
