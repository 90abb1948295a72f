// A text does not replace known sweeps, trials and attempts, and no other run is taken beside them.

#include "base/error.h"
#include "base/json.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

// Result of merging a text into a database that has some seeds; a refused text leaves it unchanged.
struct Asked {
    explicit Asked(const MeasuredOptions& options = {}) : measured(options), text(measured.text()) {}

    std::string says_to(const Records& records) const {
        const std::string before = dump_of(measured.file());
        Writer writer(measured.file());
        std::string said = refusal(ErrorKind::database, [&] { writer.merge({{"x.jsonl", records.sealed()}}); });
        if (said != "accepted") {
            CHECK(dump_of(measured.file()) == before);
            CHECK_THAT(said, ContainsSubstring("x.jsonl:") && ContainsSubstring("help: ") &&
                                 ContainsSubstring("unchanged: the database"));
        }
        return said;
    }
    SweepHead head() const { return Reader(measured.file()).sweeps().front(); }

    MeasuredSweep measured;
    std::string text;
};

// The configuration of that seed and budget with another model, under the hashes that it has then.
void give_another_model(Records& records, std::int64_t seed, double budget) {
    const Trial before = hashed_trial(seed, budget);
    Json config = parse_json(before.config_json);
    config["model"] = {{"hidden", 256}};
    Json hashed = config;
    hashed.erase("local");
    const std::string hash = sha256(canonical_json(hashed));
    hashed.erase("seed");
    const std::string variant = sha256(canonical_json(hashed));
    config.erase("seed");
    config["local"] = Json::object();
    const std::string id = sha256(config.dump()).substr(0, 16);
    const Json former =
        records.find("trial", [&](const Json& one) { return one.at("config_hash") == before.config_hash; })
            .at("config");
    std::erase_if(records.all, [&](const Json& record) { return record.value("id", Json()) == former; });
    for (Json& record : records.all) {
        if (record.value("config_hash", Json()) == before.config_hash) {
            record["config_hash"] = hash;
            record["variant_hash"] = variant;
            record["config"] = id;
        }
        if (record.value("trial", Json()) == before.config_hash) record["trial"] = hash;
    }
    records.all.insert(records.all.begin() + 2, Json{{"record", "shared"}, {"id", id}, {"value", config}});
}

}  // namespace

TEST_CASE("what a known sweep was to be judged by is not replaced by a text of the same day, nor by none") {
    const Asked asked;
    const SweepHead before = asked.head();
    Records other(asked.text);
    other.find("sweep")["claims_json"] = {{"claims", Json::array()}, {"table", "another"}};
    CHECK_THAT(asked.says_to(other), ContainsSubstring("'claims_json'"));
    // A text of a program that knew no claims has none, however early.
    Records none(asked.text);
    none.find("sweep")["created_ms"] = 5;
    none.find("sweep").erase("claims_json");
    CHECK(asked.says_to(none) == "accepted");
    CHECK(asked.head().claims_json == before.claims_json);
    CHECK(asked.head().created_ms == before.created_ms);
    // Claims of an earlier day are taken with their day, and the merge reports it.
    Records early(asked.text);
    early.find("sweep")["created_ms"] = 5;
    early.find("sweep")["claims_json"] = {{"claims", Json::array()}, {"table", "then"}};
    {
        Writer writer(asked.measured.file());
        const Merged merged = writer.merge({{"early", early.sealed()}}).at(0);
        CHECK(merged.has_changed_first_run);
        CHECK_FALSE(merged.is_nothing());
        CHECK(writer.merge({{"early", early.sealed()}}).at(0).is_nothing());
        CHECK(writer.merge({{"as before", asked.text}}).at(0).is_nothing());
    }
    CHECK(asked.head().created_ms == 5);
    CHECK_THAT(asked.head().claims_json, ContainsSubstring("then"));
    for (const Json& day : {Json(-9000000000000000), Json(9223372036854775807), Json(1.5)}) {
        Records no_day(asked.text);
        no_day.find("sweep")["created_ms"] = day;
        CHECK_THAT(asked.says_to(no_day), ContainsSubstring("'created_ms' is not a time"));
    }
}

TEST_CASE("two texts of one sweep, of which one knows its claims, say the same in either order") {
    const Asked asked;
    Records early(asked.text);
    early.find("sweep")["created_ms"] = 5;
    early.find("sweep").erase("claims_json");
    const NamedEvidence a{"a", asked.text}, b{"b", early.sealed()};
    for (const auto& texts : {std::vector{a, b}, std::vector{b, a}}) {
        const Reader reader(texts);
        CHECK(reader.sweeps().front().created_ms == asked.head().created_ms);
        CHECK(reader.sweeps().front().claims_json == asked.head().claims_json);
    }
}

TEST_CASE("a sweep of the same hash with other changes, scale or baseline is refused") {
    const Asked asked;
    const auto says = [&](const char* key, const Json& value) {
        Records records(asked.text);
        records.find("sweep")[key] = value;
        return asked.says_to(records);
    };
    CHECK_THAT(says("overrides_json", {{{"path", "a"}, {"value", 1}}}),
               ContainsSubstring("its 'overrides_json' is") && ContainsSubstring("x.jsonl:2"));
    CHECK_THAT(says("scale", "smoke"), ContainsSubstring(R"(its 'scale' is "smoke")"));
    CHECK_THAT(says("baseline", "other"), ContainsSubstring("its 'baseline'"));
    // Comments of the file are in no hash, and older databases kept neither scale nor baseline.
    CHECK(says("spec_toml", "# a comment more\n") == "accepted");
    CHECK(says("scale", "unknown") == "accepted");
    CHECK_THAT(asked.head().spec_toml, !ContainsSubstring("a comment more"));
}

TEST_CASE("another training of a known trial is refused, whatever its number") {
    const Asked asked({.seeds = {1}});
    Records other(asked.text);
    for (Json& record : other.all) {
        for (const char* key : {"uid", "attempt"})
            if (record.contains(key)) record[key] = "other-" + record[key].get<std::string>();
        if (record.contains("number")) record["number"] = record["number"].get<std::int64_t>() + 100;
    }
    CHECK_THAT(asked.says_to(other), ContainsSubstring("attempt 101 of trial") &&
                                         ContainsSubstring("is of another run than attempt 1 in ") &&
                                         ContainsSubstring("trained twice"));
    // With the known training beside it, another scoring is one all the same.
    Records scored(asked.text);
    for (Json& record : scored.all)
        if (record.at("record") == "attempt" && record.at("kind") == "score")
            record["uid"] = "other-" + record["uid"].get<std::string>();
    CHECK_THAT(asked.says_to(scored), ContainsSubstring("is of another run than attempt 2") &&
                                          ContainsSubstring("scored twice") && !ContainsSubstring("trained twice"));
    Records twice(asked.text);
    Json again = twice.find("attempt");
    again["uid"] = "again";
    twice.all.push_back(again);
    CHECK_THAT(asked.says_to(twice), ContainsSubstring("two attempts of number 1"));
    // An attempt more of the same run is taken in.
    again["number"] = 3;
    twice.all.back() = again;
    CHECK(asked.says_to(twice) == "accepted");
}

TEST_CASE("a seed of another model is not taken into the row of a known sweep") {
    const Asked asked;
    const std::string text = MeasuredSweep({.seeds = {9}}).text();
    Records other(text);
    const std::string spec = Records(asked.text).find("sweep").at("spec_sha256"),
                      own = other.find("sweep")["spec_sha256"];
    const auto of_the_same_spec = [&](Records& records) {
        records.find("sweep")["spec_sha256"] = spec;
        records.all.front()["sweep"] = "quick@" + spec.substr(0, 12);
        std::erase_if(records.all, [](const Json& record) { return record.at("record") == "verdict"; });
    };
    of_the_same_spec(other);
    give_another_model(other, 9, 1.0);
    CHECK_THAT(asked.says_to(other), ContainsSubstring("another configuration") &&
                                         ContainsSubstring("'variant_hash'") && ContainsSubstring("root of its own"));
    Records same(text);
    of_the_same_spec(same);
    CHECK(asked.says_to(same) == "accepted");
    CHECK(Reader(asked.measured.file()).sweep("quick").trials.size() == 6);
}

TEST_CASE("a known trial's record is looked at as a new one's is") {
    const Asked asked;
    const auto says = [&](const std::function<void(Json&)>& change) {
        Records records(asked.text);
        change(records.find("trial"));
        return asked.says_to(records);
    };
    CHECK_THAT(says([](Json& one) { one["variant_hash"] = std::string(64, '0'); }),
               ContainsSubstring("have the hashes"));
    CHECK_THAT(says([](Json& one) { one["seed"] = 77; }), ContainsSubstring("have the hashes"));
    CHECK_THAT(says([](Json& one) { one["config"] = "nothing"; }), ContainsSubstring("no shared value"));
    CHECK_THAT(says([](Json& one) { one["junk"] = 1; }), ContainsSubstring("unknown key 'junk'"));
    CHECK_THAT(says([](Json& one) { one.erase("created_ms"); }), ContainsSubstring("no 'created_ms'"));
}

TEST_CASE("a verdict is on the text's own sweep, and a check gives one on a claim") {
    const Asked asked;
    const auto says = [&](const std::function<void(Json&)>& change) {
        Records records(asked.text);
        Json verdict = records.find("verdict");
        change(verdict);
        records.all.push_back(verdict);
        return asked.says_to(records);
    };
    CHECK_THAT(says([](Json& one) { one["subject_json"] = Json::array(); }), ContainsSubstring("'subject_json'"));
    CHECK_THAT(says([](Json& one) { one["subject_json"]["sweep"] = "nope"; }),
               ContainsSubstring("is not of the sweep quick"));
    CHECK_THAT(says([](Json& one) { one["subject_json"]["spec_sha256"] = "abc"; }),
               ContainsSubstring("is not a SHA-256 hash"));
    CHECK_THAT(says([](Json& one) { one["result"] = "fails"; }),
               ContainsSubstring("the check c0ffee has another verdict on this claim already: \"holds\""));
    CHECK(says([](Json& one) { one["check_uid"] = "another"; }) == "accepted");
    CHECK(says([](Json& one) { one["subject_json"]["claim"] = "another"; }) == "accepted");
}

TEST_CASE("a text that a database cannot give back is refused the first time") {
    const TemporaryFolder folder;
    const std::string text = MeasuredSweep({.seeds = {1}}).text();
    const auto refused = [&](const char* has, const std::function<void(Json&)>& change, const char* says) {
        Records records(text);
        change(records.find("attempt", [&](const Json& one) { return one.contains(has); }));
        Writer writer(folder / "results.db");
        CHECK_THAT(refusal(ErrorKind::database,
                           [&] {
                               writer.merge({{"x.jsonl", records.sealed()}});
                           }),
                   ContainsSubstring("is not what a database can give back") && ContainsSubstring(says));
    };
    refused(
        "results",
        [](Json& one) {
            Json again = one["results"][0];
            again["values"][0][0] = 0.999;
            one["results"].push_back(again);
        },
        "'results'");
    refused(
        "results", [](Json& one) { one["results"][0]["values"][0][1] = "Infinity"; }, "'results'");
    refused(
        "checkpoints",
        [](Json& one) {
            Json again = one["checkpoints"][0];
            again["bytes"] = 1;
            again["role"] = "best";
            one["checkpoints"].push_back(again);
        },
        "'checkpoints'");
    CHECK(Reader({{"x.jsonl", text}}).evidence("quick").text == text);
}
