// Text inside of XML (SVG).
#pragma once

#include <string>
#include <string_view>

namespace headroom {

// With entities for what would begin a tag or an entity: "a < b" -> "a &lt; b". For text, not for attributes.
inline std::string escape_xml(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else
            out += c;
    }
    return out;
}

}  // namespace headroom
