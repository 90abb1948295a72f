#include "base/metric.h"

#include <algorithm>

namespace deft {

std::string_view to_text(Better better) {
    return better == Better::lower ? "lower" : "higher";
}

const std::vector<Metric>& metrics() {
    using enum Better;
    static const std::vector<Metric> all = {
        {.name = "loss", .better = lower, .validates = ValidationData::any},
        {.name = "bits_per_byte", .better = lower, .unit = "bits/byte", .validates = ValidationData::all_tokens},
        {.name = "acc", .better = higher, .most = 1, .validates = ValidationData::classes},
        {.name = "mcc",
         .better = higher,
         .least = -1,
         .most = 1,
         .validates = ValidationData::labels,
         .is_binary = true,
         .correlation = "Matthews"},
        {.name = "f1",
         .better = higher,
         .most = 1,
         .validates = ValidationData::labels,
         .requires_part = TaskPart::answers,
         .is_binary = true},
        {.name = "pearson",
         .better = higher,
         .least = -1,
         .most = 1,
         .validates = ValidationData::labels,
         .correlation = "Pearson"},
        {.name = "spearman",
         .better = higher,
         .least = -1,
         .most = 1,
         .validates = ValidationData::labels,
         .correlation = "Spearman"},
        {.name = "acc_norm", .better = higher, .most = 1},
        {.name = "acc_bytes", .better = higher, .most = 1},
        {.name = "acc_all", .better = higher, .most = 1, .requires_part = TaskPart::groups},
        {.name = "em", .better = higher, .most = 1, .requires_part = TaskPart::answers},
        {.name = "brier_score", .better = lower, .most = 2},
        {.name = "gold_bits_per_byte", .better = lower, .unit = "bits/byte"},
        {.name = "perplexity", .better = lower},
        {.name = "word_perplexity", .better = lower},
        {.name = "byte_perplexity", .better = lower},
        {.name = "token_perplexity", .better = lower},
        {.name = "bits_per_token", .better = lower, .unit = "bits/token"},
        {.name = "order_loss", .better = lower},
        {.name = "order_acc", .better = higher, .most = 1},
        {.name = "unigram_entropy", .better = lower, .is_of_data = true},
        {.name = "ms_per_token", .better = lower, .unit = "ms/token", .is_timed = true},
        {.name = "tokens_per_second", .better = higher, .unit = "tokens/s", .is_timed = true},
    };
    return all;
}

const Metric* find_metric(std::string_view name) {
    const auto found =
        std::find_if(metrics().begin(), metrics().end(), [&](const Metric& metric) { return metric.name == name; });
    return found == metrics().end() ? nullptr : &*found;
}

bool is_timed(std::string_view metric) {
    const Metric* found = find_metric(metric);
    return found != nullptr && found->is_timed;
}

std::vector<std::string> validation_metrics() {
    std::vector<std::string> names;
    for (const Metric& metric : metrics())
        if (metric.validates != ValidationData::none) names.emplace_back(metric.name);
    return names;
}

}  // namespace deft
