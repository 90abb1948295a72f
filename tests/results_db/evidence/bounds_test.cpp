// Evidence with values that no measurement has, or that says more or less than deft writes, is refused; and what a
// refusal says.

#include "base/error.h"
#include "results_db/evidence/curve_record.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

// An empty database that texts are offered to.
struct Offered {
    Offered() : text(MeasuredSweep({.seeds = {1}}).text()) { const Writer makes(file()); }
    std::filesystem::path file() const { return folder / "results.db"; }

    // The refusal's message, which names the line and has help.
    std::string answer(const Records& records) const {
        Writer writer(file());
        const std::string said = refusal(ErrorKind::database, [&] { writer.merge({{"x.jsonl", records.sealed()}}); });
        if (said != "accepted")
            CHECK_THAT(said, ContainsSubstring("x.jsonl:") && ContainsSubstring("help: ") &&
                                 ContainsSubstring("unchanged: the database"));
        return said;
    }
    std::string with(const std::string& kind, const std::function<void(Json&)>& change) const {
        Records records(text);
        change(records.find(kind));
        return answer(records);
    }
    std::string with_shared(const char* key, const std::function<void(Json&)>& change) const {
        Records records(text);
        records.change_shared([&](const Json& value) { return value.is_object() && value.contains(key); }, change);
        return answer(records);
    }

    TemporaryFolder folder;
    std::string text;
};

}  // namespace

TEST_CASE("times and amounts below zero, and moments that are none, are refused") {
    const Offered offered;
    for (const char* key : {"train_seconds", "eval_seconds", "cpu_seconds", "own_seconds", "held_seconds"})
        CHECK_THAT(offered.with("attempt", [&](Json& one) { one[key] = -5.0; }),
                   ContainsSubstring(fmt::format("'{}' is less than 0", key)));
    for (const char* key : {"created_ms", "started_ms", "ended_ms"})
        for (const std::int64_t ms : {std::int64_t{-1}, std::int64_t{9223372036854775807}})
            CHECK_THAT(offered.with("attempt", [&](Json& one) { one[key] = ms; }),
                       ContainsSubstring(fmt::format("'{}' is not a time", key)));
    CHECK_THAT(offered.with("trial", [](Json& one) { one["created_ms"] = -1; }),
               ContainsSubstring("'created_ms' is not a time"));
    CHECK_THAT(offered.with("verdict", [](Json& one) { one["created_ms"] = -1; }),
               ContainsSubstring("'created_ms' is not a time"));
}

TEST_CASE("an attempt that ended well has no sign of a failure") {
    const Offered offered;
    CHECK_THAT(offered.with("attempt", [](Json& one) { one["exit_code"] = 9; }),
               ContainsSubstring("its 'exit_code' is 9"));
    CHECK_THAT(offered.with("attempt", [](Json& one) { one["fail_class"] = "nan"; }),
               ContainsSubstring("it has a 'fail_class'"));
    CHECK_THAT(offered.with("attempt", [](Json& one) { one["term_signal"] = 9; }),
               ContainsSubstring("it has a 'term_signal'"));
    CHECK(offered.with("attempt", [](Json& one) { one.erase("exit_code"); }) == "accepted");
}

TEST_CASE("a curve has no negative counts, no long texts and no more rows than a training logs") {
    const Offered offered;
    const auto part = [&](const char* key, const char* column, const Json& value) {
        return offered.with("curve", [&](Json& one) { one[key][column] = value; });
    };
    CHECK_THAT(part("train", "step", {-5, 2, 3, 4, 5}), ContainsSubstring("'step' of the curve has -5"));
    CHECK_THAT(part("train", "input_tokens", -7), ContainsSubstring("'input_tokens' of the curve has -7"));
    CHECK_THAT(part("experts", "layer", -1), ContainsSubstring("'layer' of the curve has -1"));
    CHECK_THAT(part("validations", "task", std::string(201, 'x')), ContainsSubstring("longer than 200 bytes"));
    CHECK_THAT(part("train", "loss", Json::object()), ContainsSubstring("'loss' of the curve is an object"));
    CHECK_THAT(part("train", "step", std::vector<int>(1'000'001)), ContainsSubstring("more than 1000000 rows"));
    CHECK(part("validations", "task", std::string(200, 'x')) == "accepted");
}

TEST_CASE("texts that curves repeat for every step are bounded for the whole file") {
    const Json curve = {{"attempt", "a"},
                        {"validations", {{"step", {1, 2, 3}}, {"task", "four"}, {"unit", "xy"}, {"n", 5}}}};
    CHECK(repeated_bytes(curve) == 3 * (4 + 2));
    const Offered offered;
    CHECK_THAT(offered.with("curve",
                            [](Json& one) {
                                Json& validations = one["validations"];
                                for (const char* key : {"task", "task_version", "split", "unit"})
                                    validations[key] = std::string(190, 'x');
                                validations["step"] = std::vector<int>(90'000);
                            }),
               ContainsSubstring("repeat texts to more than"));
}

TEST_CASE("a known attempt's curve is completed, in whichever order fuller and thinner texts come") {
    const MeasuredSweep measured({.seeds = {1}, .budgets = {1.0}, .points = 100});
    const std::string full = Reader(measured.file()).evidence("quick", 0).text,
                      thin = Reader(measured.file()).evidence("quick", 12'000).text;
    const NamedEvidence a{"thin", thin}, b{"full", full};
    for (const auto& texts : {std::vector{a, b}, std::vector{b, a}})
        CHECK(Reader(texts).evidence("quick", 0).text == full);
    // A step after the last one is not one that a thinner text left out.
    Records longer(full);
    for (auto& [key, column] : longer.find("curve")["train"].items())
        if (column.is_array()) column.push_back(key == "step" ? Json(101) : Json(column.back()));
    const TemporaryFolder folder;
    Writer writer(folder / "results.db");
    writer.merge({a});
    CHECK_THAT(refusal(ErrorKind::database,
                       [&] {
                           writer.merge({{"longer", longer.sealed()}});
                       }),
               ContainsSubstring("its train has step 101, where those that are known go from 1 to 100"));
    const Merged merged = writer.merge({b}).at(0);
    CHECK(merged.points > 50);
    CHECK(merged.attempts == 0);
    CHECK_FALSE(merged.is_nothing());
    CHECK(writer.merge({a, b}).at(1).is_nothing());
}

TEST_CASE("no step is added to a curve that was measured here") {
    const MeasuredSweep measured({.seeds = {1}, .budgets = {1.0}});
    const std::string text = measured.text();
    Connection(measured.file(), Connection::Mode::write).execute("DELETE FROM train_point WHERE step = 3");
    const std::string before = dump_of(measured.file());
    CHECK(Writer(measured.file()).merge({{"text", text}}).at(0).is_nothing());
    CHECK(dump_of(measured.file()) == before);
}

TEST_CASE("the task of a score names no file elsewhere") {
    const Offered offered;
    for (const char* task : {"/tmp/outside.toml", "../outside", "a/../../b"}) {
        CHECK_THAT(offered.with_shared("measures", [&](Json& value) { value["task"] = task; }),
                   ContainsSubstring("the 'task' of a score leads elsewhere: ") && ContainsSubstring(task));
        CHECK_THAT(offered.with_shared("definition_sha256", [&](Json& value) { value["task"] = task; }),
                   ContainsSubstring("the 'task' of a score leads elsewhere: "));
    }
}

TEST_CASE("a place has the seed of its trial") {
    const Offered offered;
    CHECK_THAT(offered.with("place", [](Json& one) { one["seeds"] = "7777"; }),
               ContainsSubstring("its 'seeds' end in 7777, and its trial has seed 1"));
    // Behind those of the trials that it goes on from.
    CHECK(offered.with("place", [](Json& one) { one["seeds"] = "4.1"; }) == "accepted");
}

TEST_CASE("an unused or duplicate line of the text is refused before it is stored") {
    const Offered offered;
    const auto inserted = [&](const Json& record) {
        Records records(offered.text);
        records.all.insert(records.all.begin() + 5, record);
        return offered.answer(records);
    };
    CHECK_THAT(inserted(Records(offered.text).all.front()), ContainsSubstring("'evidence' in the middle of the file"));
    CHECK_THAT(inserted({{"record", "end"}, {"lines", 5}}), ContainsSubstring("'end' in the middle of the file"));
    const Json unused = "unused";
    CHECK_THAT(inserted({{"record", "shared"}, {"id", sha256(unused.dump()).substr(0, 16)}, {"value", unused}}),
               ContainsSubstring("x.jsonl:6: no record has this shared value"));
    Records places(offered.text);
    places.all.push_back(Json(places.find("place")));
    CHECK_THAT(offered.answer(places), ContainsSubstring("the file lists the place twice"));
    Records scored(offered.text);
    Json& tasks = scored.find("attempt", [](const Json& one) { return one.contains("scored"); })["scored"][0]["tasks"];
    tasks.push_back(Json(tasks[0]));
    CHECK_THAT(offered.answer(scored), ContainsSubstring("its 'scored' has the task piqa twice"));
    Records placeless(offered.text);
    const std::string trial = placeless.find("place")["trial"];
    std::erase_if(placeless.all,
                  [&](const Json& one) { return one.at("record") == "place" && one.at("trial") == trial; });
    CHECK_THAT(offered.answer(placeless), ContainsSubstring("the trial is not in the sweep"));
}

TEST_CASE("the first line is of the sweep that follows") {
    const Offered offered;
    CHECK_THAT(offered.with("evidence", [](Json& one) { one["sweep"] = "another@123"; }),
               ContainsSubstring("the first line's 'sweep' is \"another@123\""));
    CHECK_THAT(offered.with("evidence", [](Json& one) { one["note"] = 5; }), ContainsSubstring("no text 'note'"));
    CHECK_THAT(offered.with("evidence", [](Json& one) { one["curve_points"] = "many"; }),
               ContainsSubstring("'curve_points' is not a count"));
    for (const auto& [part, parts] : {std::pair(0, 2), {3, 2}, {1, 10'000}})
        CHECK_THAT(offered.with("evidence",
                                [n = part, of = parts](Json& one) {
                                    one.update({{"part", n}, {"parts", of}});
                                }),
                   ContainsSubstring("its 'part' is none of its 'parts'"));
    CHECK_THAT(offered.with("evidence", [](Json& one) { one["part"] = 1; }),
               ContainsSubstring("its 'part' is none of its 'parts'"));
}

TEST_CASE("a refusal has nothing in it that a terminal would obey") {
    const Offered offered;
    const auto clean = [](const std::string& said) {
        CHECK(said != "accepted");
        CHECK_THAT(said, !ContainsSubstring("\x1b") && !ContainsSubstring("\x07") && !ContainsSubstring("\u202e"));
        return said;
    };
    CHECK_THAT(clean(offered.with("attempt", [](Json& one) { one["\x1b]0;owned\x07"] = 1; })),
               ContainsSubstring("unknown key '?]0;owned?'"));
    clean(offered.with("sweep", [](Json& one) { one["record"] = "\x1b[2Jsweep"; }));
    clean(offered.with("attempt", [](Json& one) { one["checkpoints"][0]["path"] = "/\u202e\x1b[2J\nunchanged: x"; }));
    clean(offered.with("evidence", [](Json& one) { one["\x1b[2J"] = 1; }));
    clean(offered.with_shared("measures", [](Json& value) { value["measures"][0][2] = "\x1b[7msideways"; }));
}

TEST_CASE("a value that a table rejects is reported without the database file") {
    const Offered offered;
    const std::string said = offered.with("attempt", [](Json& one) { one["state"] = "running"; });
    CHECK_THAT(said, ContainsSubstring("a value in it is none that deft writes: CHECK") &&
                         !ContainsSubstring(offered.file().string()));
}
