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
    // The engine's setting for a metric that grows the length; null for a metric that orders samples.
    std::optional<engine::Pacing> engine::Techniques::*length = nullptr;
    bool joins_samples = false;  // concatenates them in rows of that length: the tokens of a step stay constant

    bool sets_length() const { return length != nullptr; }
    bool orders(engine::SampleOrder order) const;
    bool applies_to(engine::SampleKind samples) const;
};

const std::vector<CurriculumEntry>& curriculum_entries();

// Null for a name without an entry.
const CurriculumEntry* find_curriculum_entry(const std::string& name);
// The entry whose order the analyzer measures under that name.
const CurriculumEntry* find_curriculum_of_measure(const std::string& measure);

// Names of the entries that apply to such samples.
std::vector<std::string> curriculum_names(engine::SampleKind samples);

// A name that combines two entries, as "seqtru_voc"; it has no entry of its own.
struct Composition {
    const CurriculumEntry *length, *order;
};
std::optional<Composition> composition_of(const std::string& name);

// "NAME: meaning." for all entries; entries with one meaning share a sentence.
std::string curriculum_meanings();

}  // namespace deft::experiments
