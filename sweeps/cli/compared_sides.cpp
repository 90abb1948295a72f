#include "sweeps/cli/compared_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "reporting/trace/traced_row.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

using reporting::Variant;
using results_db::TrialRow;
using Kind = reporting::CompareSide::Kind;

constexpr std::size_t kFewestHashDigits = 6;

bool is_sweep(const results_db::Reader& reader, const std::string& name) {
    const std::vector<std::string> names = reader.sweep_names();
    return std::find(names.begin(), names.end(), name.substr(0, name.rfind('@'))) != names.end();
}

Variant only_of(const Variant& row, const TrialRow& trial) {
    Variant one = row;
    one.name = results_db::trial_name(trial);
    one.trials = {&trial};
    one.ok.clear();
    if (trial.state == "ok") one.ok = {&trial};
    return one;
}

// "CASE/SEED" in any of its spellings: one trial at most.
const TrialRow* find_trial(const std::vector<Variant>& rows, const std::string& name, const Variant*& row_of_it) {
    const TrialRow* found = nullptr;
    for (const Variant& row : rows)
        for (const TrialRow* trial : row.trials) {
            if (!results_db::is_named(*trial, name)) continue;
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

bool is_hash(const std::string& name) {
    return name.size() >= kFewestHashDigits && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

void take_sweep(NamedSide& named, const results_db::Reader& reader, const std::string& sweep, const std::string& root) {
    named.sweep = find_checked_sweep(reader, sweep, root);
    named.rows = reporting::variants_of(named.sweep);
    named.curves = reader.curves(named.sweep);
    named.side.name = results_db::full_name(named.sweep);
}

void take_trial(NamedSide& named, const Variant& row, const TrialRow& trial) {
    named.side.chosen = {only_of(row, trial)};
    named.side.kind = Kind::trial;
    named.side.name += ":" + named.side.chosen.front().name;
}

// Within the side's sweep.
void take_row(NamedSide& named, const std::string& name) {
    const Variant* row = nullptr;
    const bool may_be_trial = name.find('/') != std::string::npos;
    if (const TrialRow* trial = may_be_trial ? find_trial(named.rows, name, row) : nullptr) {
        take_trial(named, *row, *trial);
        return;
    }
    for (const Variant& one : named.rows)
        if (one.case_key == name) named.side.chosen.push_back(one);
    named.side.kind = Kind::case_rows;
    if (named.side.chosen.size() < 2) {
        named.side.chosen = {reporting::find_row(named.rows, name)};
        named.side.kind = Kind::row;
    }
    named.side.name += ":" + (named.side.kind == Kind::row ? named.side.chosen.front().name : name);
}

bool take_hash(NamedSide& named, const results_db::Reader& reader, const std::string& hash, const std::string& root) {
    const TrialRow wanted = reader.trial(hash);
    for (const results_db::SweepHead& head : reader.sweeps()) {  // newest first
        take_sweep(named, reader, results_db::full_name(head), root);
        for (const Variant& row : named.rows)
            for (const TrialRow* trial : row.trials)
                if (trial->config_hash == wanted.config_hash) {
                    take_trial(named, row, *trial);
                    return true;
                }
    }
    return false;
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
    } else if (colon != std::string::npos && is_sweep(reader, name.substr(0, colon))) {
        take_sweep(*named, reader, name.substr(0, colon), root);
        take_row(*named, name.substr(colon + 1));
    } else if (!is_hash(name) || !take_hash(*named, reader, name, root)) {
        take_sweep(*named, reader, "", root);
        take_row(*named, name);
    }
    return named;
}

}  // namespace deft::cli
