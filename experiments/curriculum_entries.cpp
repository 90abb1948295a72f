#include "experiments/curriculum_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace deft::experiments {

namespace {

using engine::SampleKind, engine::SampleOrder;

std::vector<CurriculumEntry> all_entries() {
    std::vector<CurriculumEntry> entries = {
        {.use = {.name = "seqtru",
                 .meaning = "truncates samples to a growing length",
                 .sample_kinds = {SampleKind::packed, SampleKind::bert}},
         .length = &engine::Techniques::seqtru},
        {.use = {.name = "seqres",
                 .meaning = "reshapes samples to rows of a growing length (packed samples only)",
                 .sample_kinds = {SampleKind::packed},
                 .excludes = {{"seqtru", "and seqtru both set the length of a step", "keep one of them"}}},
         .length = &engine::Techniques::seqres,
         .joins_samples = true}};
    for (const engine::Metric& metric : engine::built_in_metrics())
        entries.push_back({.use = metric.curriculum, .measure = metric.name});
    return entries;
}

}  // namespace

bool CurriculumEntry::orders(SampleOrder order) const {
    return std::ranges::count(use.orders_by, order) > 0;
}

bool CurriculumEntry::applies_to(SampleKind samples) const {
    return std::ranges::count(use.sample_kinds, samples) > 0;
}

const std::vector<CurriculumEntry>& curriculum_entries() {
    static const std::vector<CurriculumEntry> entries = all_entries();
    return entries;
}

const CurriculumEntry* find_curriculum_entry(const std::string& name) {
    for (const CurriculumEntry& entry : curriculum_entries())
        if (entry.use.name == name) return &entry;
    return nullptr;
}

const CurriculumEntry* find_curriculum_of_measure(const std::string& measure) {
    for (const CurriculumEntry& entry : curriculum_entries())
        if (entry.measure == measure && !measure.empty()) return &entry;
    return nullptr;
}

std::vector<std::string> curriculum_names(SampleKind samples) {
    std::vector<std::string> names;
    for (const CurriculumEntry& entry : curriculum_entries())
        if (entry.applies_to(samples)) names.emplace_back(entry.use.name);
    return names;
}

std::optional<Composition> composition_of(const std::string& name) {
    if (find_curriculum_entry(name) != nullptr) return {};
    for (const CurriculumEntry& length : curriculum_entries()) {
        const std::string prefix = std::string(length.use.name) + "_";
        if (!length.sets_length() || !name.starts_with(prefix)) continue;
        const CurriculumEntry* order = find_curriculum_entry(name.substr(prefix.size()));
        if (order != nullptr && !order->sets_length()) return Composition{&length, order};
    }
    return {};
}

std::string curriculum_meanings() {
    std::string text;
    std::string_view before;
    for (const CurriculumEntry& entry : curriculum_entries()) {
        const bool is_same = !text.empty() && entry.use.meaning == before;
        if (is_same) text.resize(text.size() - before.size() - std::string_view(": . ").size());
        text += fmt::format("{}{}: {}. ", is_same ? ", " : "", entry.use.name, entry.use.meaning);
        before = entry.use.meaning;
    }
    return text;
}

}  // namespace deft::experiments
