#pragma once
// The paragraphs of a first screen: the answer, what it costs, the paper's claims, and cautions.

#include <vector>

#include "reporting/views/screen/screen.h"
#include "reporting/views/screen/screen_rows.h"

namespace deft::reporting {

// `rows`: of the stage whose table the screen shows; `stage`: its trials.
std::vector<ScreenEntry> screen_entries(const ReportData& data, const ScreenRows& rows, const Results& stage,
                                        const SweepAbout& about, const ScreenPlaces& places);

}  // namespace deft::reporting
