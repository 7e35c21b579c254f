// Readers of bounded numbers.
#include "base/text.h"
#include "model/families/common.h"

namespace headroom {

Result<int64_t> read_size(ConfigTable& config, std::string_view key, int64_t most,
                          std::optional<int64_t> fallback, int64_t least) {
    const std::optional<ConfigValue> value = config.find(key);
    if (!value && fallback) return *fallback;
    HEADROOM_TRY(const ConfigValue found, config.need(key));
    const std::string allowed =
        "a whole number from " + std::to_string(least) + " to " + format_integer(most);
    const Result<int64_t> read = found.as<int64_t>();
    if (!read || *read < least || *read > most) return found.wrong(allowed);
    return read;
}

Result<double> read_real(ConfigTable& config, std::string_view key, double fallback) {
    const std::optional<ConfigValue> value = config.find(key);
    if (!value) return fallback;
    const Result<double> read = value->as<double>();
    if (!read || !(*read > 0 && *read <= 1e30)) return value->wrong("a number above 0, at most 1e30");
    return read;
}

Result<double> read_real_or_zero(ConfigTable& config, std::string_view key, double fallback) {
    const std::optional<ConfigValue> value = config.find(key);
    if (!value) return fallback;
    const Result<double> read = value->as<double>();
    if (!read || !(*read >= 0 && *read <= 1e30)) return value->wrong("a number from 0 to 1e30");
    return read;
}

}  // namespace headroom
