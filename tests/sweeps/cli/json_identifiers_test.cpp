// Identifiers in JSON that other programs rely on: they stay when titles and tables change.

#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;

namespace {

Json printed_json(const TinySweep& sweep, const std::string& command, const std::vector<std::string>& words) {
    std::vector<std::string> more = words;
    if (command != "status") more.insert(more.end(), {"--root", sweep.root.string()});
    more.emplace_back("--json");
    const Ran ran = sweep.deft(command, more);
    REQUIRE(ran.exit_code == kExitOk);
    return Json::parse(ran.out);
}

std::vector<std::string> listed_texts(const Json& list, const char* key) {
    std::vector<std::string> texts;
    for (const Json& one : list) texts.push_back(one.at(key).get<std::string>());
    return texts;
}

using Texts = std::vector<std::string>;

void check_keys(const Json& object, const std::vector<const char*>& keys) {
    for (const char* key : keys) {
        INFO(key << " in " << object.dump().substr(0, 300));
        CHECK(object.contains(key));
    }
}

}  // namespace

TEST_CASE("JSON of reports, trials, comparisons and states has identifiers that stay", "[bare]") {
    const TinySweep sweep("[axes.grid]\n\"train.budget_fraction\" = [1.0, 0.5]\n" + kPlain + kBothTechniques, "[1, 2]");
    REQUIRE(sweep.run().exit_code == kExitOk);

    const Json report = printed_json(sweep, "report", {"tiny"});
    CHECK(report.at("schema").get<std::string>() == "deft-report/1");
    CHECK(report.at("sweep").get<std::string>() == "tiny");
    check_keys(report, {"spec_sha256", "scale", "overrides", "key_columns", "notes", "trials"});
    CHECK(listed_texts(report.at("columns"), "id") ==
          Texts{"recipe", "budget_fraction", "seeds", "steps", "input_tokens", "unique_tokens", "layer_tokens", "flops",
                "train_seconds", "tokens_per_second", "usd", "device_seconds/training", "device_seconds/scoring",
                "device_seconds/start-up", "device_seconds/whole", "score/validation/bits_per_byte/valid",
                "score/validation/loss/valid", "score/embedded_questions/acc/test",
                "score/embedded_questions/gold_bits_per_byte/test"});
    CHECK(report.at("row_ids").get<Texts>() == Texts{"plain[budget_fraction=1.0]", "plain[budget_fraction=0.5]",
                                                     "both[budget_fraction=1.0]", "both[budget_fraction=0.5]"});
    CHECK(report.at("rows").size() == 4);
    const Json& trial = report.at("trials")[0];
    check_keys(trial, {"name", "case", "axes", "seed", "config_hash", "state", "commit", "scores"});
    std::set<std::string> ids;
    for (const Json& column : report.at("columns")) ids.insert(column.at("id").get<std::string>());
    for (const Json& score : trial.at("scores"))
        if (score.at("metric").get<std::string>() != "unigram_entropy")
            CHECK(ids.contains(score.at("id").get<std::string>()));

    const Json status = printed_json(sweep, "status", {"tiny"});
    CHECK(status.at("schema").get<std::string>() == "deft-status/1");
    CHECK(status.at("spec_sha256") == report.at("spec_sha256"));
    CHECK(status.at("states") == Json{{"ok", 8}});
    check_keys(status, {"sweep", "name", "scale", "overrides", "created_ms", "command", "others"});
    REQUIRE(status.at("trials").size() == 8);
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(status.at("trials")[i].at("config_hash") == report.at("trials")[i].at("config_hash"));
        CHECK(status.at("trials")[i].at("name") == report.at("trials")[i].at("name"));
    }
    check_keys(status.at("trials")[0],
               {"recipe",       "stage",        "axes",         "seed",     "seeds",         "state",
                "fail_class",   "error",        "attempts",     "steps",    "planned_steps", "last_loss",
                "layer_tokens", "asked_scores", "unscored",     "imported", "merged",        "newer_state",
                "newer_hash",   "stale",        "stale_scores", "unchecked"});
    CHECK(status.at("trials")[0].at("axes") == Json{{"train.budget_fraction", 1.0}});

    const Json shown = printed_json(sweep, "show", {"both[budget_fraction=0.5]/2"});
    CHECK(shown.at("schema").get<std::string>() == "deft-trial/1");
    CHECK(shown.at("recipe").get<std::string>() == "both");
    CHECK(shown.at("seed").get<int>() == 2);
    CHECK(shown.at("seeds").get<std::string>() == "2");
    CHECK(shown.at("axes") == Json{{"train.budget_fraction", 0.5}});
    check_keys(shown, {"name", "stage", "state", "config_hash", "variant_hash", "counts", "scores", "attempts"});
    CHECK(std::set<std::string>{"score/embedded_questions/acc/test", "score/embedded_questions/gold_bits_per_byte/test",
                                "score/validation/bits_per_byte/valid", "score/validation/loss/valid",
                                "score/validation/unigram_entropy/valid"} == [&] {
        const Texts all = listed_texts(shown.at("scores"), "id");
        return std::set<std::string>(all.begin(), all.end());
    }());

    const Json compared = printed_json(sweep, "compare", {"plain", "both"});
    CHECK(compared.at("schema").get<std::string>() == "deft-compare/1");
    CHECK(compared.at("a_sweep") == Json{{"sweep", "tiny"}, {"spec_sha256", report.at("spec_sha256")}});
    CHECK(compared.at("b_sweep") == compared.at("a_sweep"));
    REQUIRE(compared.at("rows").size() == 2);
    const Json& rows = compared.at("rows")[0];
    CHECK(rows.at("a_trials").size() == 2);
    CHECK(rows.at("a_trials")[0] == report.at("trials")[0].at("config_hash"));
    CHECK(rows.at("b_trials").size() == 2);
    for (const Json& score : rows.at("scores")) check_keys(score, {"id", "task", "metric", "split", "shots", "unit"});
}

TEST_CASE("JSON of the history of benchmarks has identifiers that stay", "[bare]") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep
                .deft("bench", {"run", "-k", "gather_rows/16/*", "--threads", "1", "--min-time", "0.001", "--root",
                                sweep.root.string()})
                .exit_code == kExitOk);
    const Ran ran = sweep.deft("bench", {"history", "--root", sweep.root.string(), "--json"});
    REQUIRE(ran.exit_code == kExitOk);
    const Json history = Json::parse(ran.out);
    CHECK(history.at("schema").get<std::string>() == "deft-bench-history/1");
    REQUIRE_FALSE(history.at("series").empty());
    for (const Json& series : history.at("series")) {
        check_keys(series, {"benchmark", "case", "where", "host", "host_fingerprint", "cpu", "compiler", "status",
                            "newest_seconds", "median_before_seconds", "newest_ratio", "changes", "sessions"});
        REQUIRE(series.at("sessions").size() == 1);
        check_keys(series.at("sessions")[0],
                   {"started_ms", "commit", "seconds", "low_seconds", "high_seconds", "launches"});
        CHECK(series.at("median_before_seconds").is_null());
    }
}
