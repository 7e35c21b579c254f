#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/config_node.h"

namespace headroom {
namespace {

// How far the parser has read.
struct Position {
    int64_t line = 1, column = 0;  // of the last character read
    bool at_line_end = false;

    void read(char c) {
        if (std::exchange(at_line_end, c == '\n')) {
            ++line;
            column = 0;
        }
        ++column;
    }
};

// Feeds the parser character by character and keeps count of lines for the values that it reports.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, Position* position) : at_(at), position_(position) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        position_->read(*at_++);
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

private:
    const char* at_;
    Position* position_;
};

// Builds the tree from the parser's events; its interface is nlohmann::json_sax. Numbers that int64_t cannot
// hold become doubles, so that reading them as a whole number fails with what was found.
class Builder {
public:
    Builder(const std::string& where, const Position& position) : where_(where), position_(position) {}

    bool null() { return add(ConfigNode::Null{}); }
    bool boolean(bool v) { return add(v); }
    bool number_integer(int64_t v) { return add(v); }
    bool number_unsigned(uint64_t v) {
        if (v > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
            return add(static_cast<double>(v));
        return add(static_cast<int64_t>(v));
    }
    bool number_float(double v, const std::string&) {
        return std::isfinite(v) ? add(v) : stop("a number out of range", "a finite number");
    }
    bool string(std::string& v) {
        if (v.find('\0') != std::string::npos) return stop("a string with a NUL", "text");
        return add(std::move(v));
    }
    bool binary(std::vector<uint8_t>&) { return stop("binary data", "text"); }
    bool start_object(size_t) { return open(ConfigNode::Fields{}); }
    bool start_array(size_t) { return open(ConfigNode::List{}); }
    bool key(std::string& name) {
        auto& fields = std::get<ConfigNode::Fields>(open_.back().value);
        fields.push_back({std::move(name), {{}, position_.line}});
        return true;
    }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    template <class Exception>
    bool parse_error(size_t, const std::string&, const Exception& e) {
        // The library's text is "[json.exception.x.101] parse error at line 1, column 2: the reason".
        std::string what = e.what();
        if (const size_t name = what.find("] "); name != what.npos) what.erase(0, name + 2);
        if (const size_t place = what.find(": "); what.starts_with("parse error at") && place != what.npos)
            what.erase(0, place + 2);
        return stop("not JSON: " + what, "JSON");
    }

    Result<ConfigNode> result() && {
        if (error_) return tl::unexpected<Error>(std::move(*error_));
        return std::move(root_);
    }

private:
    static constexpr size_t kMaxDepth = 100;

    bool stop(std::string found, std::string allowed) {
        error_ = Error{Fault::bad_input,
                       where_ + ":" + std::to_string(position_.line) + ":" +
                           std::to_string(std::max<int64_t>(position_.column, 1)),
                       std::move(found), std::move(allowed)};
        return false;
    }
    template <class V>
    bool add(V value) {
        place({std::move(value), position_.line});
        return true;
    }
    template <class V>
    bool open(V empty) {
        if (open_.size() == kMaxDepth)
            return stop("nested deeper than " + std::to_string(kMaxDepth), "less depth");
        open_.push_back({std::move(empty), position_.line});
        return true;
    }
    bool close() {
        ConfigNode done = std::move(open_.back());
        open_.pop_back();
        place(std::move(done));
        return true;
    }
    void place(ConfigNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
        } else if (auto* fields = std::get_if<ConfigNode::Fields>(&open_.back().value)) {
            node.line = fields->back().node.line;
            fields->back().node = std::move(node);
        } else {
            std::get<ConfigNode::List>(open_.back().value).push_back(std::move(node));
        }
    }

    const std::string& where_;
    const Position& position_;
    ConfigNode root_;
    std::vector<ConfigNode> open_;
    std::optional<Error> error_;
};

}  // namespace

Result<ConfigTable> parse_json(std::string_view text, const std::string& where) {
    // The parser would take a NUL for the end of the text.
    if (const size_t nul = text.find('\0'); nul != text.npos)
        return fail(where, "a NUL at byte " + std::to_string(nul), "JSON");
    Position position;
    Builder builder(where, position);
    nlohmann::json::sax_parse(CountingIterator(text.data(), &position),
                              CountingIterator(text.data() + text.size(), &position), &builder);
    HEADROOM_TRY(ConfigNode root, std::move(builder).result());
    if (!std::holds_alternative<ConfigNode::Fields>(root.value))
        return fail(where, "not an object", "a JSON object");
    return open_root({where, std::move(root)});
}

}  // namespace headroom
