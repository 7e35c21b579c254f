// The published and measured training steps of tests/ground_truth/training.json.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "base/units.h"

namespace headroom::test {

inline std::filesystem::path source_folder() {
    return HEADROOM_SOURCE_DIR;
}

// One entry by its id, in `list` ("cases" or "device_runs"); keys that it leaves out come from the one it is
// the same as.
inline nlohmann::json published(const std::string& id, const std::string& list = "cases") {
    static const nlohmann::json file = [] {
        const auto text = read_file(source_folder() / "tests/ground_truth/training.json", kMiB);
        return text ? nlohmann::json::parse(*text) : nlohmann::json::object();
    }();
    for (const nlohmann::json& entry : file.value(list, nlohmann::json::array())) {
        if (entry.value("id", "") != id) continue;
        nlohmann::json whole =
            entry.contains("same_as") ? published(entry["same_as"], list) : nlohmann::json::object();
        whole.update(entry);
        return whole;
    }
    ADD_FAILURE() << "no entry '" << id << "' in " << list;
    return nlohmann::json::object();
}

}  // namespace headroom::test
