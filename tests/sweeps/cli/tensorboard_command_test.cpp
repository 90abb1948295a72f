// deft report --format tensorboard: folders of event files, which TensorBoard's own package reads back.

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "tests/python.h"
#include "tests/sweeps/cli/tensorboard_export.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

constexpr const char* kReadBack = R"(
import json, os, sys
try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError as error:
    print(error)
    sys.exit(77)
runs = {}
for folder, _, files in os.walk(sys.argv[1]):
    for name in files:
        events = EventAccumulator(folder, size_guidance={'scalars': 0, 'tensors': 0})
        events.Reload()
        tags = events.Tags()
        run = {tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in tags['scalars']}
        run['text'] = [t.tensor_proto.string_val[0].decode() for tag in tags['tensors'] for t in events.Tensors(tag)]
        runs[os.path.relpath(folder, sys.argv[1])] = run
print(json.dumps(runs))
)";

}  // namespace

TEST_CASE("TensorBoard's package reads the export back, and the same results give the same bytes", "[bare][python]") {
    const TinySweep sweep(kPlain + kBothTechniques, "[1, 2]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::filesystem::path folder = sweep.folder.path / "runs of tb";
    const Ran ran = export_to(sweep, folder);
    CHECK(ran.exit_code == kExitOk);
    CHECK(ran.out == (folder / "tiny").string() + "\n");
    const auto files = files_below(folder);
    REQUIRE(files.size() == 4);
    for (const auto& [name, bytes] : files) CHECK_THAT(name, ContainsSubstring("/events.out.tfevents."));
    CHECK(export_to(sweep, sweep.folder.path / "again").exit_code == kExitOk);
    CHECK(files_below(sweep.folder.path / "again") == files);

    const ProcessOutput read = run_python({"-c", kReadBack, (folder / "tiny").string()});
    if (read.exit_code == 77) DEFT_SKIP("no tensorboard (PyPI; DEFT_PYTHON names a Python with it)");
    INFO(read.out);
    REQUIRE(read.exit_code == 0);
    const Json runs = Json::parse(read.out.substr(read.out.find("{\"")));
    CHECK(runs.size() == 4);
    for (const char* name : {"plain/1", "plain/2", "both/1", "both/2"}) {
        INFO(name);
        const Json& run = runs.at(name);
        const std::string recipe = std::string(name).substr(0, std::string(name).find('/'));
        const std::string of = " FROM v_curve c JOIN v_trial t USING (experiment_id) WHERE t.recipe = '" + recipe +
                               "' AND t.seed = " + std::string(name).substr(recipe.size() + 1) + " ORDER BY c.step";
        const std::vector<std::string> losses = sweep.query("SELECT c.step, c.loss" + of, 2);
        REQUIRE(run.at("train/loss").size() == losses.size());
        double before = 0;
        for (std::size_t i = 0; i < losses.size(); ++i) {
            const Json& event = run.at("train/loss")[i];
            const std::size_t blank = losses[i].find(' ');
            CHECK(event[0].get<std::int64_t>() == std::stoll(losses[i].substr(0, blank)));
            CHECK(std::abs(event[1].get<double>() - std::stod(losses[i].substr(blank))) < 1e-5);  // a 32-bit float
            CHECK(event[2].get<double>() >= before);
            before = event[2].get<double>();
        }
        CHECK(before > 1.6e9);
        CHECK(run.at("validation/loss").size() == 1);
        CHECK(run.at("score/embedded_questions/acc/test").size() == 1);
        CHECK(run.at("train/learning_rate").size() == losses.size());
        CHECK(run.at("cost/layer_tokens").size() == losses.size());
        REQUIRE(run.at("text").size() == 1);
        CHECK_THAT(run.at("text")[0].get<std::string>(), ContainsSubstring("| recipe | " + recipe + " |"));
    }
}
