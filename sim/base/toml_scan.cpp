#include "base/toml_scan.h"

#include <algorithm>
#include <string>

namespace headroom {
namespace {

class Scan {
public:
    explicit Scan(std::string_view text) : text_(text) {}

    int64_t line_of_deep_key(int limit) {
        int dots = 0;  // since the key began
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"' || c == '\'') {
                skip_string(c);
                continue;
            }
            if (c == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
                continue;
            }
            if (c == '.' && ++dots >= limit) return line_;
            if (std::string_view(",[]{}=\n").find(c) != std::string_view::npos) dots = 0;
            step();
        }
        return 0;
    }

private:
    void step() {
        if (at_ == text_.size()) return;
        line_ += text_[at_] == '\n';
        ++at_;
    }

    void skip_string(char quote) {
        const std::string three(3, quote);
        const bool is_long = text_.substr(at_).starts_with(three);
        at_ += is_long ? 3 : 1;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '\\' && quote == '"') {
                step();
            } else if (is_long && text_.substr(at_).starts_with(three)) {
                at_ += 3;
                // Up to two quotes may stand before the closing three.
                while (at_ < text_.size() && text_[at_] == quote) ++at_;
                return;
            } else if (!is_long && (c == quote || c == '\n')) {
                at_ += c == quote;
                return;
            }
            step();
        }
    }

    std::string_view text_;
    size_t at_ = 0;
    int64_t line_ = 1;
};

}  // namespace

int64_t line_of_deep_key(std::string_view toml, int limit) {
    return Scan(toml).line_of_deep_key(limit);
}

}  // namespace headroom
