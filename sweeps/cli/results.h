#pragma once
// The content of a root: its database, its sweeps, and a sweep's report in any format.

#include <filesystem>
#include <string>
#include <vector>

#include "reporting/analysis/load_results.h"
#include "reporting/views/page/page.h"
#include "results_db/reader.h"

namespace deft::cli {

// Errors: missing, with how to make one.
results_db::Reader open_results(const std::string& root);
// The name of the sweep that a SWEEP argument means: of a .toml file, the name that it gives. Errors: config.
std::string sweep_name_of(const std::string& selector);
// The inputs that results below the root would have now: the files of their data and tasks are looked at.
reporting::CurrentInputs inputs_below(const std::filesystem::path& root);
// The sweep of that name, NAME@HASH or file; the newest where it is empty. Errors: usage, with the nearest name.
reporting::Results find_sweep(const results_db::Reader& reader, const std::string& name,
                              const reporting::CurrentInputs& inputs);

// The training curves that a report shows.
enum class CurvesShown { none, on_page, all };

// All that a report is made of; curves and checkpoints only where the format shows them.
reporting::ReportData report_data(const results_db::Reader& reader, reporting::Results sweep, CurvesShown curves);

// term, md, csv, tex, json, html: of what is made of tables.
const std::vector<std::string>& report_formats();
// A table as term, md, csv or tex. Errors: usage, for the others, which hold more than a table.
std::string render_table(const reporting::Table& table, const std::string& format, int width);
// Also svg, the sweep's picture. Errors: usage, where it has none.
std::string render_report(const reporting::ReportData& data, const std::string& format, int width);

// The answer in 24 lines (reporting/views/screen/screen.h). `page`: the file of the sweep's page; empty: none.
// `options`: that name these results on a command line, with a leading blank.
std::string render_first_screen(const reporting::ReportData& data, const std::filesystem::path& page,
                                const std::string& options, int width);

// Where the sweep's page is, whether or not it exists.
std::filesystem::path report_page_file(const std::filesystem::path& root, const results_db::SweepHead& sweep);
// Writes <root>/reports/<sweep>.html and returns its path. What --set or --scale changed has a page of its own,
// <sweep>@<hash>.html. Errors: io.
std::filesystem::path write_report_page(const std::filesystem::path& root, const reporting::ReportData& data);

}  // namespace deft::cli
