#include "sweeps/cli/report_files.h"

#include <utility>

#include "base/files.h"
#include "reporting/comparison.h"
#include "reporting/table.h"
#include "sweeps/published_tables.h"

namespace deft::cli {

reporting::SweepAbout about_of(const sweeps::SweepNote& note) {
    return {note.baseline, note.scale, note.title, note.command, note.points, sweeps::published_table(note.paper)};
}

reporting::ReportData report_data(const results_db::Reader& reader, results_db::SweepResults sweep,
                                  const sweeps::SweepNote& note, bool with_curves) {
    reporting::ReportData data;
    data.sweep = std::move(sweep);
    data.about = about_of(note);
    if (with_curves) {
        data.curves = reader.curves(data.sweep.name);
        data.checkpoints = reader.checkpoints(data.sweep.name);
    }
    return data;
}

const std::vector<std::string>& report_formats() {
    static const std::vector<std::string> formats = {"term", "md", "csv", "tex", "json", "html"};
    return formats;
}

std::string render_report(const reporting::ReportData& data, const std::string& format, int width) {
    if (format == "html") return reporting::render_page(data);
    if (format == "json") return reporting::render_report_json(data);
    const reporting::Table table = reporting::comparison_table(data.sweep, data.about);
    if (format == "md") return reporting::render_markdown(table);
    if (format == "csv") return reporting::render_csv(table);
    if (format == "tex") return reporting::render_latex(table);
    return reporting::render_terminal(table, width);
}

std::filesystem::path write_report_page(const std::filesystem::path& root, const reporting::ReportData& data) {
    const std::filesystem::path file = root / "reports" / (data.sweep.name + ".html");
    make_folder(file.parent_path());
    write_file_atomically(file, reporting::render_page(data));
    return file;
}

}  // namespace deft::cli
