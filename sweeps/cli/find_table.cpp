#include "sweeps/cli/find_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/suggestion.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "sweeps/cli/results.h"
#include "sweeps/spec/published_tables.h"

namespace deft::cli {

reporting::Results find_table(const results_db::Reader& reader, const std::string& selector,
                              const reporting::CurrentInputs& inputs) {
    const std::string name = sweep_name_of(selector);
    std::vector<std::string> names = reader.sweep_names();
    const auto is_known = [&](const std::string& one) {
        return std::find(names.begin(), names.end(), one) != names.end();
    };
    if (name.empty() || names.empty() || is_known(name) || is_known(name.substr(0, name.rfind('@'))))
        return find_sweep(reader, name, inputs);
    const std::vector<std::string> published = sweeps::published_tables();
    const bool is_published = std::find(published.begin(), published.end(), name) != published.end();
    for (const results_db::SweepHead& head : reader.sweeps()) {  // newest first
        if (is_published && head.paper == name)
            return reporting::load_results(reader, results_db::full_name(head), inputs);
        if (!head.paper.empty()) names.push_back(head.paper);
    }
    if (is_published)
        throw Error(ErrorKind::missing, fmt::format("no sweep of these results reports the published table {}", name),
                    fmt::format("run a sweep with [report] paper = \"{}\", or choose one of: {}", name,
                                fmt::join(names, ", ")));
    throw Error(ErrorKind::usage, fmt::format("no table is named '{}'", name), suggestion(name, names));
}

}  // namespace deft::cli
