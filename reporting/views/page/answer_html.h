#pragma once
// The head of a page: the answer in words, and the difference of each row to the baseline as a picture.

#include <string>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/results/results.h"
#include "reporting/views/report_data.h"

namespace deft::reporting {

// The paragraphs and the table of the first screen, and the differences of the stage that answers.
std::string answer_html(const ReportData& data, const std::string& suffix);

// One line per row: its difference to the baseline on the same budget, the 95% interval, and the margin of `deft check
// quality`. Empty where no row has a difference. `sweep`: one stage.
std::string difference_html(const Results& sweep, const SweepAbout& about, const std::string& id,
                            const std::string& suffix);

}  // namespace deft::reporting
