// A curriculum by a column of another tool, over several seeds and axis values.

#include <map>
#include <utility>

#include "experiments/datasets/dataset.h"
#include "sweeps/spec/expand.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

constexpr const char* kColumnRecipes = R"toml(
[axes.grid]
"train.batch_size" = [4, 8]
[[case]]
name = "plain"
[[case]]
name = "mine"
[case.curriculum.mine]
column = "mine.csv"
min = 50
duration = 0.5
)toml";

void write_column(const TinySweep& sweep, std::int64_t values) {
    std::string lines;
    for (std::int64_t i = 0; i < values; ++i) lines += std::to_string(i * 7 % 11) + "\n";
    sweep.folder.write("mine.csv", lines);
}

std::int64_t training_samples(const TinySweep& sweep) {
    experiments::DataConfig data;
    data.embedded_bytes = 5000;
    return experiments::load_dataset(data, 16, "", sweep.folder.path / "counted").source.samples;
}

// Each trial's hash of its column and of its configuration, by name.
std::map<std::string, std::pair<std::string, std::string>> hashes(const TinySweep& sweep, const std::string& seeds) {
    sweeps::SpecOptions options;
    options.overrides = {"log_every=2"};
    std::string text = read_file(sweep.file);
    text.replace(text.find("seeds = "), text.find('\n', text.find("seeds = ")) - text.find("seeds = "),
                 "seeds = " + seeds);
    const auto trials = sweeps::expand(sweeps::load_spec(sweep.folder.write("seeds.toml", text), options));
    std::map<std::string, std::pair<std::string, std::string>> all;
    for (const sweeps::Trial& trial : trials)
        all[trial.name()] = {trial.config.curriculum ? trial.config.curriculum->find("mine")->column_sha256 : "none",
                             trial.config_hash};
    return all;
}

}  // namespace

TEST_CASE("A column of difficulties is hashed into every seed and axis value, whatever their order") {
    const TinySweep sweep(kColumnRecipes);
    write_column(sweep, 5);
    const auto forwards = hashes(sweep, "[1, 2, 3]");
    CHECK(forwards.size() == 12);
    const std::string sha = forwards.at("mine[batch_size=4]/1").first;
    CHECK(sha.size() == 64);
    for (const auto& [name, both] : forwards) CHECK(both.first == (name.starts_with("mine") ? sha : "none"));
    CHECK(hashes(sweep, "[3, 2, 1]") == forwards);
}

TEST_CASE("A sweep with a column trains every seed and axis value") {
    const TinySweep sweep(kColumnRecipes, "[1, 2]");
    write_column(sweep, training_samples(sweep));
    const Ran ran = sweep.run();
    CHECK(ran.exit_code == kExitOk);
    CHECK(sweep.count("ok") == "8");
    CHECK(sweep.attempts().size() == 8);
}

TEST_CASE("A column of another length is refused by plan and run, before a trial starts") {
    const TinySweep sweep(kColumnRecipes, "[1, 2]");
    write_column(sweep, training_samples(sweep) - 1);
    for (const Ran& ran : {sweep.deft("plan", {"--root", sweep.root.string()}), sweep.run()}) {
        CHECK(ran.exit_code == kExitUsage);
        CHECK_THAT(ran.err, ContainsSubstring("mine.csv") &&
                                ContainsSubstring(fmt::format("{} values", training_samples(sweep) - 1)) &&
                                ContainsSubstring(fmt::format("{} samples", training_samples(sweep))));
    }
    CHECK(sweep.attempts().empty());
    // The baseline is planned all the same.
    CHECK(sweep.deft("plan", {"--root", sweep.root.string(), "--only", "plain"}).exit_code == kExitOk);
}

TEST_CASE("A misspelt column, an unknown metric and a column under a built-in name are refused at their place") {
    const auto refused = [](const std::string& table) {
        const TinySweep sweep("[[case]]\nname = \"plain\"\n[[case]]\nname = \"mine\"\n" + table);
        const Ran ran = sweep.deft("plan");
        CHECK(ran.exit_code == kExitUsage);
        return ran.err;
    };
    CHECK_THAT(refused("[case.curriculum.mine]\ncolum = \"mine.csv\"\n"),
               ContainsSubstring("unknown key curriculum.mine.colum") && ContainsSubstring("did you mean column?"));
    CHECK_THAT(refused("[case.curriculum.mine]\nmin = 50\n"),
               ContainsSubstring("curriculum.mine is neither a built-in metric nor one with a column") &&
                   ContainsSubstring("column = \"FILE.npy\""));
    CHECK_THAT(refused("[case.curriculum.vocc]\nmin = 50\n"), ContainsSubstring("did you mean voc?"));
    for (const char* name : {"voc", "seqtru", "seqreo", "seqlen", "seqreo_voc", "seqres_voc"})
        CHECK_THAT(refused(fmt::format("[case.curriculum.{}]\ncolumn = \"mine.csv\"\n", name)),
                   ContainsSubstring(fmt::format("curriculum.{} names a built-in metric", name)));
}
