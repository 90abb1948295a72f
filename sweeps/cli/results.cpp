#include "sweeps/cli/results.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/comparison/stages.h"
#include "reporting/analysis/glue/glue_scores.h"
#include "reporting/analysis/glue/glue_table.h"
#include "reporting/analysis/search/rate_search.h"
#include "reporting/analysis/tradeoff/tradeoff_sentences.h"
#include "reporting/fit_lines.h"
#include "reporting/table.h"
#include "reporting/text.h"
#include "reporting/views/page/drawn_trials.h"
#include "reporting/views/page/tradeoff_html.h"
#include "reporting/views/page/verdict_strip.h"
#include "reporting/views/screen/screen.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/current_inputs.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/root.h"
#include "sweeps/spec/inherit.h"
#include "sweeps/spec/published_tables.h"
#include "sweeps/spec/spec.h"
#include "sweeps/spec/sweep_file.h"

namespace deft::cli {

namespace {

reporting::SweepAbout about_of(const results_db::SweepHead& sweep) {
    return {sweep.baseline,          sweep.scale,  sweep.title,
            sweep.command,           sweep.points, sweeps::published_table(sweep.paper),
            sweeps::current_commit()};
}

// A sweep that --set or --scale changed has its hash after its name.
std::string page_name(const results_db::SweepHead& sweep) {
    const bool as_usual = sweep.scale.empty() || sweep.scale == sweeps::kDefaultScale || sweep.scale == "unknown";
    return as_usual && results_db::overrides_text(sweep).empty() ? sweep.name : results_db::full_name(sweep);
}

std::string verdicts_note(const reporting::ReportData& data) {
    if (!data.about.published) return {};
    return reporting::verdict_line(reporting::claims_of(data), *data.about.published, page_name(data.sweep));
}

// The quality that the rows of each stage keep at their cost, a paragraph each.
std::string kept_quality(const reporting::ReportData& data, const std::string& format) {
    std::string text;
    for (const reporting::StageResults& stage : reporting::stages_of(data.sweep))
        if (const auto tradeoff = reporting::tradeoff_of(stage.sweep, reporting::about_stage(data.about, stage)))
            for (const std::string& sentence : reporting::tradeoff_sentences(*tradeoff)) {
                if (!text.empty()) text += format == "md" ? "\n\n" : "\n";
                text += sentence;
            }
    return text;
}

std::string picture_of(const reporting::ReportData& data) {
    if (const auto picture = reporting::result_picture(data.sweep, data.about)) return *picture;
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "sweep '{}' has no picture of its own: none of quality against cost, for that needs two recipes with "
            "scores at two budgets each, and none of experts against dense models, for that needs dense models of "
            "two sizes",
            data.sweep.name),
        "--format html has its curves");
}

}  // namespace

results_db::Reader open_results(const std::string& root) {
    const std::filesystem::path file = sweeps::database_file(root);
    if (!std::filesystem::exists(file))
        throw Error(ErrorKind::missing, fmt::format("there are no results in {}", root),
                    "run a sweep first, or name another folder with --root");
    return results_db::Reader(file);
}

reporting::CurrentInputs inputs_below(const std::filesystem::path& root) {
    return [root](const results_db::StoredSweep& sweep) { return sweeps::current_inputs(sweep, root); };
}

reporting::Results find_sweep(const results_db::Reader& reader, const std::string& name,
                              const reporting::CurrentInputs& inputs) {
    const std::vector<std::string> names = reader.sweep_names();
    if (names.empty()) throw Error(ErrorKind::missing, "no sweep has been run yet", "run one: deft run SWEEP.toml");
    return reporting::load_results(reader, name.empty() ? names.front() : sweep_name_of(name), inputs);
}

std::string sweep_name_of(const std::string& selector) {
    if (!selector.ends_with(".toml")) return selector;
    const std::filesystem::path file = sweeps::sweep_file(selector);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return file.stem().string();
    const sweeps::Inherited inherited = sweeps::with_parents(file, read_file(file));
    const ConfigNode* name = inherited.root.find("name");
    return name != nullptr && name->kind == ConfigNode::Kind::text ? name->text : file.stem().string();
}

reporting::ReportData report_data(const results_db::Reader& reader, reporting::Results sweep, CurvesShown curves) {
    reporting::ReportData data;
    data.sweep = std::move(sweep);
    data.about = about_of(data.sweep);
    data.earlier = reader.verdicts();
    if (curves != CurvesShown::none) {
        const std::set<std::string> drawn = reporting::drawn_trials(data.sweep);
        data.curves = reader.curves(data.sweep, curves == CurvesShown::all ? nullptr : &drawn);
        data.checkpoints = reader.checkpoints(data.sweep);
        for (const reporting::Trial& trial : data.sweep.trials) {
            if (!trial.settings.has_experts) continue;
            if (auto loads = reader.expert_loads(trial.config_hash); !loads.empty())
                data.experts[trial.config_hash] = std::move(loads);
        }
    }
    return data;
}

const std::vector<std::string>& report_formats() {
    static const std::vector<std::string> formats = {"term", "md", "csv", "tex", "json", "html"};
    return formats;
}

namespace {

std::string rendered(const reporting::ReportData& data, const std::string& format, int width) {
    if (format == "html") return reporting::render_page(data);
    if (format == "json") return reporting::render_report_json(data);
    if (format == "svg") return picture_of(data);
    if (format == "csv") return reporting::render_csv(reporting::comparison_of_stages(data.sweep, data.about));
    std::string text;
    for (const reporting::StageResults& stage : reporting::stages_of(data.sweep)) {
        const reporting::Table table =
            reporting::comparison_table(stage.sweep, reporting::about_stage(data.about, stage));
        text += (text.empty() ? "" : "\n") + render_table(table, format, width);
    }
    for (const auto& table : {reporting::glue_table(data.sweep), reporting::rate_search_table(data.sweep)})
        if (table) text += "\n" + render_table(*table, format, width);
    if (format == "tex") return text;
    for (const std::string& note :
         {reporting::stage_costs_note(data.sweep), kept_quality(data, format), verdicts_note(data)})
        if (!note.empty()) text += "\n" + (format == "term" ? reporting::fit_lines(note, width) : note) + "\n";
    return text;
}

}  // namespace

std::string render_report(const reporting::ReportData& data, const std::string& format, int width) {
    return with_short_home(rendered(data, format, width));
}

std::string render_table(const reporting::Table& table, const std::string& format, int width) {
    if (format == "svg")
        throw Error(ErrorKind::usage, "svg holds the sweep's picture, and no table", "choose term, md, csv or tex");
    if (format == "html" || format == "json" || format == "tensorboard")
        throw Error(ErrorKind::usage, fmt::format("{} holds every trial and its curves already", format),
                    "leave --per-seed and --curves out, or choose term, md, csv or tex");
    if (format == "md") return reporting::render_markdown(table);
    if (format == "csv") return reporting::render_csv(table);
    if (format == "tex") return reporting::render_latex(table);
    return reporting::render_terminal(table, width);
}

std::string render_first_screen(const reporting::ReportData& data, const std::filesystem::path& page,
                                const std::string& options, int width) {
    const reporting::ScreenPlaces places{options.find(" --from ") == std::string::npos ? page_name(data.sweep) : "",
                                         page.string(), options};
    return with_short_home(reporting::render_screen(reporting::screen_of(data, places, width), width));
}

std::filesystem::path report_page_file(const std::filesystem::path& root, const results_db::SweepHead& sweep) {
    return root / "reports" / (page_name(sweep) + ".html");
}

std::filesystem::path write_report_page(const std::filesystem::path& root, const reporting::ReportData& data) {
    const std::filesystem::path file = report_page_file(root, data.sweep);
    make_folder(file.parent_path());
    write_file_atomically(file, with_short_home(reporting::render_page(data)));
    return file;
}

}  // namespace deft::cli
