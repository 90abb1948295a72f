// The scoring of a trained model by itself: what it refuses, and what it leaves when it is stopped.

#include "experiments/score_trial.h"

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "base/score_key.h"
#include "experiments/evaluate_checkpoint.h"
#include "tests/experiments/whole_trial.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
namespace fs = std::filesystem;

namespace {

const std::string kTask =
    "name = \"mine\"\nversion = \"1\"\nkind = \"last_word\"\nsplit = \"test\"\nmetrics = [\"acc\"]\n"
    "[records]\nfile = \"mine.jsonl\"\nformat = \"jsonl\"\n[prompt]\ntext = \"{q}\"\ntarget = \"{w}\"\n";

// A trial of some steps, with a task of its own.
struct Trained {
    Trained() {
        write_file_atomically(folder / "mine.toml", kTask);
        write_file_atomically(folder / "mine.jsonl", "{\"q\": \"The sky is\", \"w\": \"blue\"}\n");
        config = config_of(1);
        REQUIRE(run_trial(config, {folder.path(), folder / "data", folder / "checkpoints"}, {}, [] { return false; }) ==
                0);
        checkpoint = newest_checkpoint(folder / "checkpoints").value();
    }

    TrialConfig config_of(std::int64_t seed) const {
        TrialConfig made = parse_trial_config(
            parse_toml("[model]\nlayers = 1\nwidth = 16\nheads = 2\nseqlen = 16\n[data]\nembedded_bytes = 3000\n"
                       "[train]\nbatch_size = 4\nbudget_tokens = 512\n"
                       "[eval]\ntasks = [\"mine\", \"embedded_questions\"]\ndocuments = 30\nvalidation_tokens = 100\n",
                       "t.toml"),
            seed, folder.path());
        resolve_data(made);
        return made;
    }

    // Scores in a run folder of its own; the exit code. Keeps its journal's lines.
    int score(
        const TrialConfig& by, const std::vector<std::string>& keys,
        const std::function<bool()>& stop = [] { return false; }) {
        const fs::path run = folder.path() / ("run" + std::to_string(++runs));
        make_folder(run);
        const int code = score_trial(by, keys, {run, folder / "data", checkpoint}, {}, stop);
        lines.clear();
        std::istringstream in(read_file(run / "journal.jsonl"));
        for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
        return code;
    }

    std::vector<std::string> scored() const {
        std::vector<std::string> tasks;
        for (const Json& line : lines)
            if (line.at("type") == "scored") tasks.push_back(line.at("task"));
        return tasks;
    }

    test::TemporaryFolder folder;
    TrialConfig config;
    fs::path checkpoint;
    int runs = 0;
    std::vector<Json> lines;
};

}  // namespace

TEST_CASE("a scoring scores what it is asked for, and says of which model") {
    Trained trained;
    const auto requests = score_requests(trained.config);
    REQUIRE(requests.size() == 3);
    CHECK(trained.score(trained.config, {requests[2].key, requests[0].key}) == kExitOk);
    CHECK(trained.scored() == std::vector<std::string>{kValidationTask, "embedded_questions"});
    const std::string sha256 = Json::parse(read_file(trained.checkpoint / "checkpoint.json"))
                                   .at("sha256")
                                   .at("model.safetensors")
                                   .get<std::string>();
    for (const Json& line : trained.lines) {
        if (line.at("type") == "scored") CHECK(line.at("model_sha256") == sha256);
        if (line.at("type") == "evaluation") CHECK(line.at("score_key").get<std::string>().size() == 64);
        CHECK(line.at("type") != "train");
    }
    const auto last = std::find_if(trained.lines.rbegin(), trained.lines.rend(),
                                   [](const Json& line) { return line.at("type") == "scored"; });
    REQUIRE(last != trained.lines.rend());
    CHECK(last->at("documents") == 30);
    const auto items = last->at("items").get<std::string>();
    CHECK(std::count(items.begin(), items.end(), '\n') == 30);
    CHECK(items.starts_with("0 "));
}

TEST_CASE("records that changed after a scoring was planned fail it, and keep what was scored before") {
    Trained trained;
    write_file_atomically(trained.folder / "mine.jsonl", "{\"q\": \"Snow is\", \"w\": \"white\"}\n");
    CHECK(trained.score(trained.config, test::score_keys(trained.config)) == kExitFailed);
    CHECK(trained.scored() == std::vector<std::string>{kValidationTask});
    const Json& ended = trained.lines.back();
    CHECK(ended.at("fail_class") == "config");
    CHECK_THAT(ended.at("error").get<std::string>(), ContainsSubstring("task mine or its records have changed"));
}

TEST_CASE("the checkpoint of another training, or a damaged one, is not scored") {
    Trained trained;
    const TrialConfig other = trained.config_of(2);
    CHECK(trained.score(other, test::score_keys(other)) == kExitFailed);
    CHECK_THAT(trained.lines.back().at("error").get<std::string>(), ContainsSubstring("is of another training"));
    fs::resize_file(trained.checkpoint / "model.safetensors", 100);
    CHECK(trained.score(trained.config, test::score_keys(trained.config)) == kExitFailed);
    CHECK(trained.lines.back().at("fail_class") == "io");
    CHECK(trained.scored().empty());
}

TEST_CASE("a scoring that is asked to stop ends between batches, and keeps whole tasks alone") {
    Trained trained;
    int asked = 0;
    CHECK(trained.score(trained.config, test::score_keys(trained.config), [&] { return ++asked > 4; }) ==
          kExitWorkLeft);
    CHECK(trained.lines.back().at("state") == "stopped");
    CHECK(trained.scored().size() < 3);
    std::string open;  // the task of the last scores that no line of their own closes
    for (const Json& line : trained.lines) {
        if (line.at("type") == "evaluation") open = line.at("task");
        if (line.at("type") == "scored") open.clear();
    }
    CHECK(open.empty());
}

TEST_CASE("a model with experts is scored under capacity where that is asked, whatever it was trained with") {
    const auto config_of = [](const std::string& capacity) {
        TrialConfig made = parse_trial_config(
            parse_toml("[model]\nlayers = 2\nwidth = 16\nheads = 2\nseqlen = 16\n[model.experts]\ncount = 4\n"
                       "capacity_factor = 0.25\nmin_capacity = 1\n[data]\nembedded_bytes = 3000\n"
                       "[train]\nbatch_size = 4\nbudget_tokens = 512\n[eval]\nvalidation_tokens = 200\n" +
                           capacity,
                       "t.toml"),
            1, "/nowhere");
        resolve_data(made);
        return made;
    };
    const TrialConfig plain = config_of(""), kept = config_of("capacity = \"reference\"\n");
    const test::TemporaryFolder folder;
    REQUIRE(run_trial(plain, {folder.path(), folder / "data", folder / "checkpoints"}, {}, [] { return false; }) == 0);
    const auto loss_of = [&](const TrialConfig& config, const char* run) {
        make_folder(folder / run);
        const std::string key = score_requests(config).at(0).key;
        REQUIRE(score_trial(config, std::vector{key},
                            {folder / run, folder / "data", newest_checkpoint(folder / "checkpoints").value()}, {},
                            [] { return false; }) == kExitOk);
        std::istringstream in(read_file(folder / run / "journal.jsonl"));
        for (std::string line; std::getline(in, line);) {
            const Json json = Json::parse(line);
            if (json.at("type") != "evaluation" || json.at("metric") != "loss") continue;
            CHECK(json.at("score_key") == key);
            return json.at("value").get<double>();
        }
        FAIL("no loss was scored");
        return 0.0;
    };
    const double dropless = loss_of(plain, "plain"), under_capacity = loss_of(kept, "kept");
    CHECK(dropless != under_capacity);
    CHECK(loss_of(plain, "again") == dropless);
    // Generation and the losses that samples are ordered by drop nothing.
    CHECK_FALSE(load_trained_model(newest_checkpoint(folder / "checkpoints").value(), {}).under_capacity);
}
