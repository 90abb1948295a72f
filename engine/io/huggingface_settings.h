#pragma once
// The settings of a config.json, read one by one, so that none that means something is passed over.

#include <cstdint>
#include <set>
#include <string>

#include "base/json_fwd.h"

namespace deft::engine {

// Each is asked for once; finish() refuses those that nobody asked for. Errors of all calls: config, with the file and
// the setting. `json` must outlive it.
class HuggingFaceSettings {
 public:
    // file: for messages.
    HuggingFaceSettings(const Json& json, std::string file) : json_(json), file_(std::move(file)) {}

    [[noreturn]] void refuse(const std::string& key, const std::string& why, const std::string& fix) const;

    // Whether it is there and not null.
    bool has(const std::string& key);
    // From 1 on.
    std::int64_t extent(const std::string& key, std::int64_t most);
    std::int64_t extent_or(const std::string& key, std::int64_t otherwise, std::int64_t most);
    // Above 0.
    double number_or(const std::string& key, double otherwise, double below);
    bool flag_or(const std::string& key, bool otherwise);
    // A share of what training drops, which no output of a trained model depends on; 0 where it is absent.
    double dropout(const std::string& key);
    std::string word_or(const std::string& key, const std::string& otherwise);
    // The value of a setting that is there.
    const Json& value(const std::string& key) const;
    const std::string& file() const { return file_; }

    // Accepts a setting with this value alone.
    void expect(const std::string& key, const Json& wanted);
    // Refuses what nobody asked for, unless it decides no output of a model, or is null.
    void finish() const;

    // A value as messages show it.
    static std::string shown(const Json& value);

 private:
    const Json& json_;
    std::string file_;
    std::set<std::string> known_;
};

}  // namespace deft::engine
