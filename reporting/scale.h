#pragma once
// How large a sweep's models are beside those of the papers.

#include <cstdint>
#include <string>

#include "results_db/store.h"

namespace deft::reporting {

// Of its largest model; 0 where unknown.
std::int64_t largest_parameters(const results_db::SweepResults& sweep);

// Under a tenth of a billion parameters; where those are unknown, any scale but "paper".
// Such results say nothing by themselves about the papers' models.
bool is_small_scale(const results_db::SweepResults& sweep, const std::string& scale);

// "smoke: proxy scale"; the scale's name alone where the models are large.
std::string scale_label(const results_db::SweepResults& sweep, const std::string& scale);

}  // namespace deft::reporting
