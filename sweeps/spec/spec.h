#pragma once
// A sweep file, read strictly: inherited, scaled, overridden, and checked as far as that goes without looking at
// trials.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/config.h"
#include "experiments/hardware.h"
#include "results_db/rows.h"
#include "sweeps/spec/slurm_settings.h"

namespace deft::sweeps {

inline constexpr const char* kDefaultScale = "smoke";

struct Axis {
    std::string path;  // "train.budget_fraction"
    std::vector<ConfigNode> values;
    Place place;
    // Axes of one number, other than 0, go together: they have as many values each, and a trial takes all at one place.
    int together = 0;
};

// Trials with a purpose of their own, as to pretrain: [stage.NAME]. A file without stages has one, which has no name.
struct Stage {
    std::string name;
    std::string from;                 // an earlier stage, whose trials its own start from; empty: weights are drawn
    std::vector<std::int64_t> seeds;  // of those that start from one trial; empty: that trial's seed
    bool enabled = true;              // else its trials are left out
    ConfigNode overlay;               // trial tables, laid over the defaults
    std::vector<Axis> axes;
    Place place;
};

// "train.budget_fraction", or "pretrain.train.budget_fraction" of that stage: as --set and [[exclude]] name it.
std::string axis_name(const Stage& stage, const Axis& axis);

struct Recipe {
    std::string name;
    std::string label;                           // the name where the file gives none
    std::map<std::string, ConfigNode> overlays;  // by stage: trial tables, laid over those of the stage
    Place place;
    bool enabled = true;  // else it is left out of the sweep

    // Null where it has no tables of that stage.
    const ConfigNode* overlay(const std::string& stage) const;
};

// Drops the trials that match all of it.
struct Exclusion {
    std::string stage;   // empty: any
    std::string recipe;  // likewise
    std::vector<std::pair<std::string, ConfigNode>> values;
    Place place;
};

// [search]: before the table, each of its rows is trained at each of these learning rates, with seeds of the search's
// own; the table's trials have the best one of their row.
struct RateSearch {
    std::string stage;                   // whose rate; of a sweep without stages, no name
    std::vector<double> learning_rates;  // ascending, two at least
    std::vector<std::int64_t> seeds;
    Place place;
};

// --set path=value
struct Override {
    std::string path;
    ConfigNode value;
    std::string stage = {};  // empty: all of them

    bool concerns(const Stage& of) const { return stage.empty() || stage == of.name; }
};

struct Spec {
    std::string name;
    std::string title;
    std::string scale;                // the overlay that was applied; empty where the file has none of that name
    std::string baseline;             // a recipe's name
    std::vector<std::int64_t> seeds;  // of stages that start from none
    int threads = 0;                  // per trial; 0: the scheduler chooses
    std::string slots = "auto";
    SlurmSettings slurm = {};                      // of jobs, where a batch system runs the trials
    int ranks = 1;                                 // processes of each trial
    int ranks_per_node = 0;                        // of them; 0: all
    std::string hostfile;                          // of the hosts that they span without Slurm; empty: this machine
    std::string agent;                             // the command that reaches these hosts; empty: ssh
    std::optional<experiments::DeviceUse> device;  // what plans count hours for; nothing of it decides a trial
    std::string
        fitted_on;  // the recipe on whose published times the device's utilisation is fitted; empty: it is stated
    std::string fitted_in;                   // the published table that has them; empty: `paper`
    std::optional<results_db::Price> price;  // of a device-hour; without one costs stay unknown
    std::string paper;                       // the published table that is printed beside the results; empty: none
    ConfigNode defaults;
    std::vector<Stage> stages;  // those enabled, in their order, at least one
    std::vector<Recipe> recipes;
    std::vector<Exclusion> exclusions;
    std::vector<Override> overrides;    // laid over the recipes
    std::vector<Override> pinned_axes;  // overrides of axes, which the stages show as their only values
    std::optional<RateSearch> search;
    std::map<std::string, double>
        found_rates;         // of the search, by row (sweeps/spec/rate_search.h); empty: not searched yet
    bool keeps_diff = true;  // stores the uncommitted changes of the checkout with each result

    std::vector<std::string> notes;  // on lists and recipes that come from another file, or are left out
    std::filesystem::path file;
    std::string text;    // of the file as it was
    std::string sha256;  // of everything that decides which trials there are

    bool has_stages() const { return !stages.front().name.empty(); }
    bool is_started_from(const std::string& stage) const;
    const Recipe* find_recipe(const std::string& recipe) const;
};

struct SpecOptions {
    std::string scale = kDefaultScale;
    std::vector<std::string> overrides;  // "train.learning_rate=1e-3"
    std::optional<std::vector<std::int64_t>> seeds;
};

// `file`: a path, or the name of a bundled sweep (sweeps/spec/sweep_file.h).
// Errors: io, config (with the place and a fix), usage (an override that is not key=value).
Spec load_spec(const std::filesystem::path& file, const SpecOptions& options = {});
// The sweep that the file would have with that text. Errors: those of load_spec.
Spec spec_of_text(const std::filesystem::path& file, const std::string& text, const SpecOptions& options = {});

// Refuses a recipe that the sweep does not have, with the nearest. Errors: usage.
void require_recipes(const Spec& spec, const std::vector<std::string>& names);

// "3" means seeds 1 2 3; "4,7" means those. Errors: usage.
std::vector<std::int64_t> parse_seeds(const std::string& text);

}  // namespace deft::sweeps
