#pragma once
// How large a dense model would be that ends as well as a model with experts: read between dense models of the same
// sweep, trained on equal tokens, and never beyond them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/statistics/verdict.h"
#include "reporting/figure.h"

namespace deft::reporting {

// A row by its size and its validation losses at the end, one an independent seed.
struct SizedRow {
    std::string name;
    double parameters = 0, active_parameters = 0;
    std::vector<double> losses;  // nats a token, at least one
    double tokens = 0;           // layer-averaged, mean over seeds
};

// The position of a loss among the dense models'.
struct DenseMultiple {
    enum class Place { between, better_than_all, worse_than_all, unknown };

    Place place = Place::unknown;
    std::optional<double> multiple;    // of the base's parameters, of Place::between
    std::optional<Interval> interval;  // of it, at 95%; nothing below kFewestSeeds seeds of any of the three rows
};

struct ExpertsAgainstDense {
    std::vector<SizedRow> dense;    // by parameters, no two alike; the plain rows, without data-efficiency techniques
    std::vector<SizedRow> experts;  // in the sweep's order
    std::size_t base = 0;           // of the dense ones, what multiples are of
    std::vector<std::string> left_out;  // "MoE (a seed diverged)"
};

// Only rows that count as measured, are not stale, had no seed that diverged, and have a validation loss, and as
// many tokens as the baseline within a hundredth. Nothing without a model with experts or without dense models of two
// sizes.
std::optional<ExpertsAgainstDense> experts_against_dense(const std::vector<Row>& rows, const std::string& base_recipe);

// Between two neighbours in size, of which the larger is the better, losses fall linearly in the logarithm of the
// parameters. The interval has the spread of all three rows over seeds (Welch), through the first derivatives.
DenseMultiple dense_multiple(const SizedRow& row, const ExpertsAgainstDense& rows);

// "2.31x [1.90x, 2.80x]", "more than 3.9x", "less than 1x". Ends of an interval beyond the dense models are printed
// likewise. Empty of Place::unknown.
std::string multiple_text(const DenseMultiple& multiple, const ExpertsAgainstDense& rows);

// The dense multiple of each row with experts, and how it was computed.
std::vector<std::string> multiple_sentences(const ExpertsAgainstDense& rows);

// The losses of the dense models by their size, those of the others as levels, and where these meet that line.
Figure multiple_figure(const ExpertsAgainstDense& rows);

}  // namespace deft::reporting
