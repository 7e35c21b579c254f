// Errors as values. Every function that can fail on input returns Result<T>.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace headroom {

// What kind of failure; it decides the exit code of the command.
enum class Fault {
    bad_input,          // exit 2: a file, key, option or value that is not allowed
    does_not_fit,       // exit 3: the plan needs more memory than the budgets give
    outside_tolerance,  // exit 4: `compare` found a difference above the tolerance
    run_failed,         // exit 5: a program we started, or the system, failed
    interrupted,        // exit 130: Ctrl-C
};

// One failure, said to a person: where it is, what was found, what is allowed.
struct Error {
    Fault fault = Fault::bad_input;
    std::string where;    // "scenarios/a.toml:12, key 'plan.chunk'"; empty where there is no place
    std::string found;    // "'4Kib' is not a number of tokens"
    std::string allowed;  // "a positive multiple of the page, 128"; empty where nothing can be said

    // "where: found; allowed: ..." on one line.
    std::string text() const;
};

int exit_code(Fault fault);

template <class T>
using Result = tl::expected<T, Error>;

// Shorthand for returning an Error from a function that returns any Result.
inline tl::unexpected<Error> fail(std::string where, std::string found, std::string allowed = {},
                                  Fault fault = Fault::bad_input) {
    return tl::unexpected<Error>(Error{fault, std::move(where), std::move(found), std::move(allowed)});
}

}  // namespace headroom

// Evaluates a Result; on failure returns its Error from the enclosing function, else binds the value.
#define HEADROOM_CONCAT_(a, b) a##b
#define HEADROOM_CONCAT(a, b) HEADROOM_CONCAT_(a, b)
// NOLINTBEGIN(bugprone-macro-parentheses): `decl` is a declaration.
#define HEADROOM_TRY(decl, expr)                                                         \
    auto HEADROOM_CONCAT(try_, __LINE__) = (expr);                                       \
    if (!HEADROOM_CONCAT(try_, __LINE__))                                                \
        return tl::unexpected<headroom::Error>(HEADROOM_CONCAT(try_, __LINE__).error()); \
    decl = std::move(*HEADROOM_CONCAT(try_, __LINE__))
// NOLINTEND(bugprone-macro-parentheses)
// The same for Result<void>.
#define HEADROOM_CHECK(expr)                                                                 \
    if (auto HEADROOM_CONCAT(check_, __LINE__) = (expr); !HEADROOM_CONCAT(check_, __LINE__)) \
    return tl::unexpected<headroom::Error>(HEADROOM_CONCAT(check_, __LINE__).error())
