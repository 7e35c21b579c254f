#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "shipped.h"

namespace headroom {
namespace {

const std::string& good() {
    static const std::string text = test::text_of("h200-sxm-pcie5");
    return text;
}

// The shipped H200 with the first `from` replaced; the error that follows, and the line of the change.
std::string error_of(std::string_view from, std::string_view to) {
    std::string text = good();
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at == std::string::npos) return {};
    text.replace(at, from.size(), to);
    const auto hardware = parse_hardware(text, "f.toml", "f");
    return hardware ? "accepted" : hardware.error().text();
}

std::string place_of(std::string_view from) {
    const size_t at = good().find(from);
    return "f.toml:" +
           std::to_string(1 + std::count(good().begin(), good().begin() + static_cast<long>(at), '\n'));
}

struct Case {
    const char *from, *to, *says;
    bool at_line = true;
};

class BadHardware : public testing::TestWithParam<Case> {};

TEST_P(BadHardware, IsRefusedWithItsPlaceAndWhatIsAllowed) {
    const Case& c = GetParam();
    const std::string error = error_of(c.from, c.to);
    EXPECT_NE(error.find(c.says), std::string::npos) << error;
    if (c.at_line) {
        EXPECT_NE(error.find(place_of(c.from)), std::string::npos) << error;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Keys, BadHardware,
    testing::Values(Case{"launch_ns = 2520", "lunch_ns = 1500", "launch_ns"},
                    Case{"launch_ns = 2520", "", "no key 'device.launch_ns'", false},
                    Case{"launch_ns = 2520", "launch_ns = -1", "from 0"},
                    Case{"launch_ns = 2520", "launch_ns = 0.5", "whole"},
                    Case{"launch_ns = 2520", "launch_ns = \"fast\"", "whole"},
                    Case{"launch_ns = 2520", "launch_ns = nan", "nan"},
                    Case{"dense_tflops = 989.4", "dense_tflops = inf", "inf"},
                    Case{"dense_tflops = 989.4", "dense_tflops = 0", "above 0"},
                    Case{"dense_tflops = 989.4", "dense_tflops = -3", "above 0"},
                    Case{"dense_tflops = 989.4", "dense_tflops = 1e300", "at most 1e9"},
                    Case{"memory_efficiency = 0.65289", "memory_efficiency = 1.01", "at most 1"},
                    Case{"calibrated = true", "calibrated = 1", "true"},
                    Case{"memory = \"146591680KiB\"", "memory = 0", "at least 1 byte"},
                    Case{"memory = \"146591680KiB\"", "memory = \"many\"", "many"},
                    Case{"library_memory = \"860992KiB\"", "library_memory = \"200GiB\"",
                         "less than the device's memory"},
                    Case{"pinnable = \"96GiB\"", "pinnable = \"129GiB\"", "at most the host's memory"},
                    Case{"link = \"pcie\"", "link = \"pci\"", "'pcie' or 'c2c'"},
                    Case{"max_gpus = 8", "max_gpus = 1", "from 2"},
                    Case{"max_gpus = 8", "max_gpus = 99999999999", "to 1024"},
                    Case{"[rates.gemm]", "[rates.gem]", "gemm"}, Case{"[rates.gemm]", "[rate.gemm]", "rates"},
                    Case{"by_n_ms = 55.508", "by_n_ms = -98", "from 0"},
                    Case{"latency_us = 4.5921", "latency_us = -1", "from 0"},
                    Case{"per_pair_ps = 0.40438", "per_pairs_ps = 0.4", "per_pair_ps"},
                    Case{"blocks = 0.94108", "blocks = 0", "from 0.01 to 100"},
                    Case{"multiprocessors = 132", "multiprocessors = 0", "from 1 to 4096"},
                    Case{"embed = {", "embeds = {", "embed"},
                    Case{"efficiency = 0.80321", "efficiency = 0", "from 0.0001 to 10"},
                    Case{"per_row_ns = 0.0093489", "per_row = 1", "per_row_ns"},
                    Case{"deterministic_slowdown = 1.0709", "deterministic_slowdown = 0.9", "from 1"},
                    Case{"{ piece = \"128KiB\", gb_s = 25.476 }", "{ piece = \"8KiB\", gb_s = 25.476 }",
                         "ascending", false},
                    Case{"{ piece = \"128KiB\", gb_s = 25.476 }", "{ piece = \"128KiB\", gb_s = 900 }",
                         "takes less time", false},
                    Case{"{ piece = \"128KiB\", gb_s = 25.476 }", "{ piece = \"128KiB\", gbs = 23 }", "gb_s"},
                    Case{"{ piece = \"128KiB\", gb_s = 25.476 }", "7", "table"},
                    Case{"[interference.gemm]", "[interference.gemms]", "gemm"},
                    Case{"to_device = 0.977", "to_device = 0", "above 0"},
                    Case{"to_device = 0.977", "to_devise = 0.8", "to_device"},
                    Case{"tflops = 695.94", "tflops = \"695.94\"", "above 0"},
                    Case{"title = ", "title == ", "f.toml:3"}, Case{"[disk]\n", "[disk\n", "f.toml"}));

TEST(BadHardware, EmptyAndCutTextsAreErrors) {
    EXPECT_FALSE(parse_hardware("", "f.toml", "f"));
    EXPECT_FALSE(parse_hardware(std::string_view("\0\xff", 2), "f.toml", "f"));
    // Up to the [measured] table, whose keys may all be absent, every cut leaves something out.
    const size_t whole = good().find("[interference.gemm]");
    for (size_t cut = 0; cut < whole; cut += 97) {
        const auto hardware = parse_hardware(std::string_view(good()).substr(0, cut), "f.toml", "f");
        if (hardware) {
            // What follows the links may be absent: no peer link, no disk, no interference.
            EXPECT_GT(cut, good().find("[to_host]")) << cut;
        } else {
            EXPECT_NE(hardware.error().text().find("f.toml"), std::string::npos) << hardware.error().text();
        }
    }
}

}  // namespace
}  // namespace headroom
