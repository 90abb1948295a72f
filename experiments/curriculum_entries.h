#pragma once
// The registry of [curriculum.NAME]: growing lengths, and the analyzer's metrics, which order samples.

#include <optional>
#include <string>
#include <vector>

#include "engine/data_efficiency/sampling/metric.h"
#include "engine/data_efficiency/techniques.h"

namespace deft::experiments {

struct CurriculumEntry {
    engine::CurriculumUse use;
    std::string measure = {};  // the analyzer's name of a metric that orders samples
    // Where the engine takes the growing length of a metric that sets it; null: none.
    std::optional<engine::Pacing> engine::Techniques::*length = nullptr;
    bool joins_samples = false;  // end to end in rows of that length: the tokens of a step stay constant

    bool sets_length() const { return length != nullptr; }
    bool orders(engine::SampleOrder order) const;
    bool applies_to(engine::SampleKind samples) const;
};

const std::vector<CurriculumEntry>& curriculum_entries();

// Null for a name without an entry.
const CurriculumEntry* find_curriculum_entry(const std::string& name);
// The entry whose order the analyzer measures under that name.
const CurriculumEntry* find_curriculum_of_measure(const std::string& measure);

// The names of those that apply to such samples.
std::vector<std::string> curriculum_names(engine::SampleKind samples);

// Two entries in one name, as "seqtru_voc", which has no entry.
struct Composition {
    const CurriculumEntry *length, *order;
};
std::optional<Composition> composition_of(const std::string& name);

// "NAME: meaning." of all entries, those of one meaning together.
std::string curriculum_meanings();

}  // namespace deft::experiments
