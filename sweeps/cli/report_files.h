#pragma once
// A sweep's report in any of its formats.

#include <filesystem>
#include <string>
#include <vector>

#include "reporting/page.h"
#include "results_db/store.h"
#include "sweeps/sweep_note.h"

namespace deft::cli {

reporting::SweepAbout about_of(const sweeps::SweepNote& note);

// All that a report is made of; curves and checkpoints only where the format shows them.
reporting::ReportData report_data(const results_db::Reader& reader, results_db::SweepResults sweep,
                                  const sweeps::SweepNote& note, bool with_curves);

// term, md, csv, tex, json, html.
const std::vector<std::string>& report_formats();
std::string render_report(const reporting::ReportData& data, const std::string& format, int width);

// Writes <root>/reports/<sweep>.html and returns its path. Errors: io.
std::filesystem::path write_report_page(const std::filesystem::path& root, const reporting::ReportData& data);

}  // namespace deft::cli
