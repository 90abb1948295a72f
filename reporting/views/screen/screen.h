#pragma once
// The first screen of a sweep: how far it is, one table, and the answer, in at most 24 lines of 80 columns.

#include <cstddef>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/stages.h"
#include "reporting/table.h"
#include "reporting/views/report_data.h"

namespace deft::reporting {

inline constexpr std::size_t kScreenLines = 24;

// One paragraph below the table: "Answer", "Paper", "Caution".
struct ScreenEntry {
    std::string label;
    std::string text;
    std::string command = {};  // after the text, or below it where it does not fit there
};

struct Screen {
    std::string headline;              // "quickstart: 16 of 16 trials done in 38 s on 2 workers, $0.0008"
    Table table;                       // rows and columns that fit
    std::vector<ScreenEntry> entries;  // in the order in which they are printed
    std::vector<ScreenEntry> links;    // where to read more
};

struct ScreenPlaces {
    std::string sweep = {};    // as `deft report` takes it; empty: the only one
    std::string page = {};     // the file of the sweep's page; empty: none was written
    std::string options = {};  // that name these results, " --root other"; empty: the default root
};

// The stage that answers: the published table's, or the first that has a measure of quality, or the first of all. Of a
// sweep with trials.
StageResults answering_stage(const ReportData& data);

Screen screen_of(const ReportData& data, const ScreenPlaces& places, int width);

// Wrapped at word ends; no line is wider than `width` unless a single word or table cell is.
std::string render_screen(const Screen& screen, int width);

}  // namespace deft::reporting
