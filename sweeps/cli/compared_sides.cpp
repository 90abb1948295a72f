#include "sweeps/cli/compared_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/suggestion.h"
#include "reporting/analysis/trace/traced_row.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

using reporting::Row;
using reporting::Trial;
using Kind = reporting::CompareSide::Kind;

constexpr std::size_t kFewestHashDigits = 6;

bool is_sweep(const results_db::Reader& reader, const std::string& name) {
    const std::vector<std::string> names = reader.sweep_names();
    return std::find(names.begin(), names.end(), name.substr(0, name.rfind('@'))) != names.end();
}

Row only_of(const Row& row, const Trial& trial) {
    Row one = row;
    one.name = results_db::trial_name(trial);
    one.trials = {&trial};
    one.ok.clear();
    if (trial.state == "ok") one.ok = {&trial};
    return one;
}

// A trial by its name with its seed, of which stage and axes may be left out: one at most. Errors: usage, for several.
const Trial* find_trial(const std::vector<Row>& rows, const std::string& name, const Row*& row_of_it) {
    const std::string seed = name.substr(name.rfind('/') + 1);
    const Trial* found = nullptr;
    for (const Row& row : rows)
        for (const Trial* trial : row.trials) {
            const std::string own = trial->seeds.empty() ? std::to_string(trial->seed) : trial->seeds;
            if (seed != own || !results_db::is_named(*trial, name)) continue;
            if (found != nullptr)
                throw Error(ErrorKind::usage,
                            fmt::format("'{}' may be {} or {}", name, results_db::trial_name(*found),
                                        results_db::trial_name(*trial)),
                            "name the axes as well");
            found = trial;
            row_of_it = &row;
        }
    return found;
}

bool is_row(const std::vector<Row>& rows, const std::string& name) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Row& row) { return row.name == name || row.recipe == name; });
}

bool is_hash(const std::string& name) {
    return name.size() >= kFewestHashDigits && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

void take_sweep(NamedSide& named, const results_db::Reader& reader, const std::string& sweep, const std::string& root) {
    named.sweep = find_sweep(reader, sweep, inputs_below(root));
    named.rows = reporting::rows_of(named.sweep);
    named.curves = reader.curves(named.sweep);
    named.side.name = results_db::full_name(named.sweep);
}

void take_trial(NamedSide& named, const Row& row, const Trial& trial) {
    named.side.chosen = {only_of(row, trial)};
    named.side.kind = Kind::trial;
    named.side.name += ":" + named.side.chosen.front().name;
}

// Within the side's sweep.
void take_row(NamedSide& named, const std::string& name) {
    const Row* row = nullptr;
    const bool may_be_trial = name.find('/') != std::string::npos && !is_row(named.rows, name);
    if (const Trial* trial = may_be_trial ? find_trial(named.rows, name, row) : nullptr) {
        take_trial(named, *row, *trial);
        return;
    }
    for (const Row& one : named.rows)
        if (one.recipe == name) named.side.chosen.push_back(one);
    named.side.kind = Kind::recipe_rows;
    if (named.side.chosen.size() < 2) {
        named.side.chosen = {reporting::find_row(named.rows, name)};
        named.side.kind = Kind::row;
    }
    named.side.name += ":" + (named.side.kind == Kind::row ? named.side.chosen.front().name : name);
}

// From the newest sweep that has the trial.
void take_hash(NamedSide& named, const results_db::Reader& reader, const std::string& hash, const std::string& root) {
    const std::string wanted = reader.trial(hash).config_hash;
    for (const results_db::SweepHead& head : reader.sweeps()) {  // newest first
        const results_db::StoredSweep sweep = reader.sweep(results_db::full_name(head));
        if (std::none_of(sweep.trials.begin(), sweep.trials.end(),
                         [&](const results_db::StoredTrial& trial) { return trial.config_hash == wanted; }))
            continue;
        take_sweep(named, reader, results_db::full_name(head), root);
        for (const Row& row : named.rows)
            for (const Trial* trial : row.trials)
                if (trial->config_hash == wanted) return take_trial(named, row, *trial);
    }
}

// For "SWEEP:NAME" with an unknown sweep. A colon may also precede a stage.
void refuse_unknown_sweep(const results_db::Reader& reader, const std::vector<Row>& rows, const std::string& sweep) {
    for (const Row& row : rows)
        if (row.recipe == sweep || sweep.starts_with(row.recipe + "[")) return;
    std::vector<std::string> known = reader.sweep_names();
    for (const Row& row : rows) known.push_back(row.recipe);
    throw Error(ErrorKind::usage, fmt::format("no sweep or recipe is named '{}'", sweep), suggestion(sweep, known));
}

}  // namespace

std::unique_ptr<NamedSide> named_side(const results_db::Reader& reader, const std::string& name,
                                      const std::string& root) {
    auto named = std::make_unique<NamedSide>();
    named->side.sweep = &named->sweep;
    named->side.rows = &named->rows;
    named->side.curves = &named->curves;
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos && is_sweep(reader, name)) {
        take_sweep(*named, reader, name, root);
        named->side.chosen = named->rows;
        return named;
    }
    if (colon != std::string::npos && is_sweep(reader, name.substr(0, colon))) {
        take_sweep(*named, reader, name.substr(0, colon), root);
        take_row(*named, name.substr(colon + 1));
        return named;
    }
    take_sweep(*named, reader, "", root);
    if (is_hash(name) && !is_row(named->rows, name)) {
        take_hash(*named, reader, name, root);
        return named;
    }
    if (colon != std::string::npos) refuse_unknown_sweep(reader, named->rows, name.substr(0, colon));
    take_row(*named, name);
    return named;
}

}  // namespace deft::cli
