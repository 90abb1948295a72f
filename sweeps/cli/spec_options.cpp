#include "sweeps/cli/spec_options.h"

#include <algorithm>

#include "sweeps/cli/output.h"

namespace deft::cli {

void SpecArguments::add_to(CLI::App& command) {
    command.add_option("sweep", file, "The sweep file, as in sweeps/quickstart.toml")->required();
    command.add_option("--scale", scale, "The scale to run it at")->capture_default_str();
    command.add_option("--set", overrides, "Lay a value over every case, as in train.learning_rate=1e-3")
        ->allow_extra_args(false);
    command.add_option("--only", only, "These cases alone, as in baseline,cl")->delimiter(',')->allow_extra_args(false);
    command.add_option("--seeds", seeds, "Seeds: a count, or a list as in 4,7");
}

sweeps::Spec SpecArguments::load() const {
    sweeps::SpecOptions options;
    options.scale = scale;
    options.overrides = overrides;
    if (!seeds.empty()) options.seeds = sweeps::parse_seeds(seeds);
    sweeps::Spec spec = sweeps::load_spec(file, options);
    sweeps::require_cases(spec, only);
    return spec;
}

bool SpecArguments::selects(const sweeps::Point& point) const {
    return only.empty() || std::find(only.begin(), only.end(), point.case_name) != only.end();
}

std::string SpecArguments::text() const {
    std::string line = quoted(file);
    if (scale != sweeps::kDefaultScale) line += " --scale " + quoted(scale);
    for (const std::string& change : overrides) line += " --set " + quoted(change);
    for (const std::string& name : only) line += " --only " + quoted(name);
    if (!seeds.empty()) line += " --seeds " + quoted(seeds);
    return line;
}

}  // namespace deft::cli
