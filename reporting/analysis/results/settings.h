#pragma once
// The parts of a trial's configuration that reports read, parsed once.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace deft::reporting {

// A key that is absent, or has a value of another kind, leaves the default.
struct Settings {
    // The whole configuration, which copies of the trial share; discarded where the text is not valid JSON.
    std::shared_ptr<const Json> json = std::make_shared<const Json>();
    std::optional<std::int64_t> result_epoch;

    std::optional<std::int64_t> layers, seqlen;  // of the model
    bool has_experts = false;

    std::string corpus, base_folder;
    std::string samples = "packed";
    bool truncates_labels = false;   // a defect of published code, switched on
    std::int64_t whole_batches = 0;  // another: the batch that records must fill; 0: off

    bool has_start = false;   // its training began at another model's weights
    std::string start_trial;  // configuration hash of that model, where a trial of the sweep trained it

    std::optional<double> learning_rate;
    bool selects_best = false;                  // validation chooses the weights
    bool is_plain = true;                       // no technique changes its data, layers or batches
    std::vector<std::int64_t> dropping_layers;  // those that take kept tokens only, from 0
    bool keeps_a_constant_number = false;       // of tokens, in these layers, from first to last
};

// The value at keys such as "data.sha256"; null where none is.
Json value_at(const Json& config, const std::string& keys);
std::optional<std::int64_t> integer_at(const Json& config, const std::string& keys);

Settings parse_settings(const std::string& config_json);
Settings settings_of(std::shared_ptr<const Json> config);

}  // namespace deft::reporting
