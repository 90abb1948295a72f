#include "results_db/sweep_heads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

std::vector<std::string> names_of(const std::vector<SweepHead>& sweeps) {
    std::vector<std::string> names;
    for (const SweepHead& sweep : sweeps)
        if (std::find(names.begin(), names.end(), sweep.name) == names.end()) names.push_back(sweep.name);
    return names;
}

std::string listed(const std::vector<const SweepHead*>& sweeps) {
    std::string text;
    for (const SweepHead* sweep : sweeps) {
        const std::string changed = overrides_text(*sweep);
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", full_name(*sweep),
                            changed.empty() ? "" : " (" + changed + ")");
    }
    return text;
}

[[noreturn]] void fail_missing(const std::vector<SweepHead>& sweeps, const std::string& selector,
                               const std::string& file) {
    const std::vector<std::string> names = names_of(sweeps);
    throw Error(names.empty() ? ErrorKind::missing : ErrorKind::usage,
                fmt::format("{} has no sweep '{}'", file, selector),
                names.empty() ? "run a sweep first: deft run SPEC"
                              : suggestion(selector.substr(0, selector.rfind('@')), names,
                                           fmt::format("there are {}", fmt::join(names, ", "))));
}

}  // namespace

std::string full_name(const SweepHead& sweep) {
    return sweep.name + "@" + short_hash(sweep.spec_sha256);
}

std::string overrides_text(const SweepHead& sweep) {
    const Json overrides = try_parse_json(sweep.overrides_json);
    if (!overrides.is_array()) return {};
    std::string text;
    for (const Json& change : overrides) {
        if (!change.is_object() || !change.contains("path") || !change.contains("value")) continue;
        const Json &path = change.at("path"), &value = change.at("value");
        const auto plain = [](const Json& json) {
            return json.is_string() ? json.get<std::string>()
                                    : json.dump(-1, ' ', false, Json::error_handler_t::replace);
        };
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", plain(path), plain(value));
    }
    return text;
}

std::vector<SweepHead> read_sweeps(Connection& connection) {
    Statement query(
        connection,
        ("SELECT id, file_sha256, " + column_names(kSweepColumns) + " FROM sweep ORDER BY use_order DESC").c_str());
    std::vector<SweepHead> sweeps;
    while (query.step()) {
        SweepHead head;
        head.id = query.integer(0);
        head.file_sha256 = query.text(1);
        read_row(query, 2, kSweepColumns, static_cast<Sweep*>(&head));
        sweeps.push_back(std::move(head));
    }
    return sweeps;
}

SweepHead find_sweep(const std::vector<SweepHead>& sweeps, const std::string& selector, const std::string& file) {
    for (const SweepHead& sweep : sweeps)
        if (sweep.name == selector) return sweep;
    const std::size_t at = selector.rfind('@');
    if (at == std::string::npos || at + 1 == selector.size()) fail_missing(sweeps, selector, file);
    const std::string name = selector.substr(0, at), hash = selector.substr(at + 1);
    std::vector<const SweepHead*> of_name, found;
    for (const SweepHead& sweep : sweeps) {
        if (sweep.name != name) continue;
        of_name.push_back(&sweep);
        if (sweep.spec_sha256.starts_with(hash)) found.push_back(&sweep);
    }
    if (of_name.empty()) fail_missing(sweeps, selector, file);
    if (found.empty())
        throw Error(ErrorKind::usage, fmt::format("no run of sweep {} has a hash that begins with {}", name, hash),
                    "there are " + listed(of_name));
    if (found.size() > 1)
        throw Error(ErrorKind::usage, fmt::format("'{}' may be any of {}", selector, listed(found)),
                    "give more of the hash");
    return *found.front();
}

}  // namespace deft::results_db
