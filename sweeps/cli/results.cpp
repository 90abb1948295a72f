#include "sweeps/cli/results.h"

#include <fmt/format.h>

#include "base/error.h"
#include "sweeps/driver/driver.h"

namespace deft::cli {

results_db::Reader open_results(const std::string& root) {
    const std::filesystem::path file = sweeps::database_file(root);
    if (!std::filesystem::exists(file))
        throw Error(ErrorKind::missing, fmt::format("there are no results in {}", root),
                    "run a sweep first, or name another folder with --root");
    return results_db::Reader(file);
}

results_db::SweepResults find_sweep(const results_db::Reader& reader, const std::string& name) {
    const std::vector<std::string> names = reader.sweep_names();
    if (names.empty()) throw Error(ErrorKind::missing, "no sweep has been run yet", "run one: deft run SWEEP.toml");
    return reader.sweep(name.empty() ? names.front() : name);
}

}  // namespace deft::cli
