// The models of the source tree, and their configs with single keys changed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "model/model.h"

namespace headroom::test {

inline std::filesystem::path data() {
    return HEADROOM_SOURCE_DIR;
}

inline nlohmann::json config_of(const std::string& name) {
    const auto text = read_file(data() / "models" / "llm" / name / "config.json", kMiB);
    EXPECT_TRUE(text) << (text ? "" : text.error().text());
    return nlohmann::json::parse(text.value_or("{}"));
}

inline Model shipped(const std::string& name) {
    const auto model = read_model(name, data());
    EXPECT_TRUE(model) << (model ? "" : model.error().text());
    return model.value_or(Model{});
}

inline Model parsed(const nlohmann::json& config) {
    const auto model = parse_model(config.dump(), "config.json", "test");
    EXPECT_TRUE(model) << (model ? "" : model.error().text());
    return model.value_or(Model{});
}

// The model `name` with the keys of `changes` set (null: set to null).
inline Model changed(const std::string& name, const nlohmann::json& changes) {
    nlohmann::json config = config_of(name);
    config.update(changes);
    return parsed(config);
}

// The model `name` without the key.
inline Model without(const std::string& name, const std::string& key) {
    nlohmann::json config = config_of(name);
    EXPECT_EQ(config.erase(key), 1u) << key;
    return parsed(config);
}

}  // namespace headroom::test
