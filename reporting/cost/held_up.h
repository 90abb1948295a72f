#pragma once
// Whether trials were held up: something else ran on their processor, so that a clock says of both.

#include <optional>
#include <string>
#include <vector>

#include "reporting/variants.h"

namespace deft::reporting {

// The part of the time that the finished trials of a row held their thread in which it computed. Of trials on one
// thread of a CPU alone: of several nobody can tell whether they were held up or waited for one another. Nothing:
// unknown.
std::optional<double> computing_share(const Variant& variant);

// Whether those of both are within a tenth of each other, as far as they are known.
bool were_held_up_alike(const Variant& a, const Variant& b);

// "train hours: compared only where trials were held up alike, and of their time these computed: A for 50%, B for 99%";
// empty: they were, as far as is known.
std::string held_up_differently(const std::vector<const Variant*>& rows, const std::string& quantity);

// Rows that contention slowed otherwise than their baseline, so that their cells have no ratio of times.
std::vector<std::string> held_up_notes(const std::vector<Variant>& variants, const std::string& base_case);

}  // namespace deft::reporting
