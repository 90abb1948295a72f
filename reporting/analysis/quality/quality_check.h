#pragma once
// A sweep against a pinned baseline: is a row's score or loss curve worse by more than a limit? The unit is the seed.

#include <span>
#include <string>
#include <vector>

#include "reporting/analysis/check/check_report.h"
#include "reporting/analysis/quality/measured_row.h"
#include "reporting/analysis/statistics/seed_comparison.h"
#include "reporting/table.h"

namespace deft::reporting {

// The thresholds, frozen before anything is trained.
struct QualityRule {
    double loss_margin = 0.01;   // of what should be low, as a share of the baseline's mean
    double score_margin = 0.01;  // of what should be high: a point of accuracy
    double confidence = 0.9;     // of the interval; either of its ends is passed by chance half the rest of the time
    double false_discovery_rate = 0.05;  // among the rows and measures called better or worse
};
std::string rule_json(const QualityRule& rule);

// One measure of one row; or, where the measure is nothing, a row that cannot be compared.
struct QualityFinding {
    Judged judged;
    std::string row;
    std::optional<Measure> measure;
    std::size_t base_seeds = 0, head_seeds = 0;  // that were compared
    double base = 0, head = 0;                   // means
    std::optional<std::size_t> more_seeds;       // as SeedComparison
};

// Every row of the head that the baseline has, then, with `whole`, those of the baseline that the head lacks.
// With h the harm (how much worse the head's mean is), and its interval:
// worse   the whole interval lies beyond the margin, and the finding is significant given the number of findings;
//   better  the mirror of it
//   same    the whole interval is less harm than the margin
//   unclear neither, or fewer than kFewestSeeds seeds on a side
//   broken  a trial crashed, or a value is not finite: one finding a row or measure
//   missing nothing to compare, or what there is of the head is stale
// Trials that the baseline was pinned from are no second measurement and are left out of the head. Where both sides
// have the same seeds they are compared seed by seed; otherwise the variance over seeds is drawn towards that of all
// rows of either side. Loss curves are compared by their late loss at the tokens that all seeds of both sides
// consumed. Trials of one seed of their chain's first trial are averaged first, see mean_by_seed(). What a test set's
// size leaves unknown is left out: both sides answer the same items.
std::vector<QualityFinding> check_quality(std::span<const MeasuredRow> base, std::span<const MeasuredRow> head,
                                          const std::string& baseline, const QualityRule& rule, bool whole = true);

CheckReport quality_report(std::span<const QualityFinding> findings, const std::string& sweep,
                           const std::string& baseline);
Table quality_table(std::span<const QualityFinding> findings, const std::string& sweep, const std::string& baseline,
                    const QualityRule& rule);

}  // namespace deft::reporting
