// Evidence that is damaged, disagrees, or is written to do harm: refused with its place, the database as it was.

#include "base/error.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

// A database that has seed 1, and is not changed.
struct Kept {
    Kept() : measured({.seeds = {1}}), before(dump_of(measured.file())) {}
    // The refusal's message.
    std::string refuses(const std::string& text, const std::string& says) const {
        std::string message;
        {
            Writer writer(measured.file());
            message = refusal(
                ErrorKind::database,
                [&] {
                    writer.merge({{"x.jsonl", text}});
                },
                says);
        }
        CHECK(message != "accepted");
        CHECK(dump_of(measured.file()) == before);
        return message;
    }
    MeasuredSweep measured;
    std::string before;
};

std::vector<std::string> lines_in(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        lines.push_back(text.substr(begin, end + 1 - begin));
        begin = end + 1;
    }
    return lines;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
}

}  // namespace

TEST_CASE("a changed digit is refused with its line, anywhere in the text") {
    const Kept kept;
    const std::vector<std::string> lines = lines_in(MeasuredSweep().text());
    REQUIRE(lines.size() > 30);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::vector<std::string> changed = lines;
        std::string& line = changed[i];
        const std::size_t at = line.find_last_of("12345678");
        line[at] = line[at] == '5' ? '6' : '5';
        kept.refuses(joined(changed), fmt::format("x.jsonl:{}", i + 1));
    }
}

TEST_CASE("a file that is cut short, or has a line more, less or elsewhere, is refused") {
    const Kept kept;
    const std::string text = MeasuredSweep().text();
    const std::vector<std::string> lines = lines_in(text);
    kept.refuses("", "empty");
    kept.refuses(text.substr(0, text.size() - 2), "truncated");
    kept.refuses(text.substr(0, text.size() / 2), "truncated");
    for (std::size_t left = 1; left < lines.size(); left += 7)
        kept.refuses(joined({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(left)}), "truncated");
    std::vector<std::string> without = lines;
    without.erase(without.begin() + 20);
    kept.refuses(joined(without), "a line is missing, added or moved");
    std::vector<std::string> moved = lines;
    std::swap(moved[20], moved[21]);
    kept.refuses(joined(moved), "a line is missing, added or moved");
    kept.refuses(text + lines[20], "x.jsonl");
    kept.refuses(text + text, "x.jsonl");
}

TEST_CASE("a file that is not evidence, or of another schema, is refused with help") {
    const Kept kept;
    kept.refuses("these are my notes\n", "not an evidence file of deft");
    kept.refuses("{\"a\":1}\n", "not an evidence file of deft");
    Records records(MeasuredSweep().text());
    for (const Json& schema : {Json(3), Json(0), Json("2"), Json()}) {
        records.all[0]["schema"] = schema;
        CHECK_THAT(kept.refuses(records.sealed(), "x.jsonl:1"),
                   ContainsSubstring("of schema " + schema.dump() + "; this program reads 1 to 2") &&
                       ContainsSubstring("the deft that wrote it"));
    }
    records.all[0]["schema"] = 2;
    records.all[0]["more"] = 1;
    kept.refuses(records.sealed(), "unknown key 'more'");
}

TEST_CASE("two that disagree on one attempt are refused with both places") {
    const Kept kept;
    const std::string text = kept.measured.text();
    const auto is_training = [](const Json& record) { return record.at("kind") == "train"; };
    {
        Records records(text);
        records.find("attempt", is_training)["own_seconds"] = 9.5;
        const std::string said = kept.refuses(records.sealed(), "'own_seconds' is 10.1 there and 9.5 here");
        CHECK_THAT(said, ContainsSubstring(kept.measured.file().string()) && ContainsSubstring("x.jsonl:") &&
                             ContainsSubstring("attempt 1 of trial"));
    }
    {
        Records records(text);
        records.find("attempt", [](const Json& one) { return one.contains("results"); })["results"][0]["values"][0][0] =
            0.5;
        kept.refuses(records.sealed(), "'results'");
    }
    {
        Records records(text);
        records.find("attempt", [](const Json& one) { return one.contains("scored"); })["scored"][0]["model_sha256"] =
            "another";
        kept.refuses(records.sealed(), "'scored'");
    }
    {
        Records records(text);
        records.change_shared([](const Json& value) { return value.contains("code"); },
                              [](Json& value) { value["code"]["git_sha"] = "another"; });
        kept.refuses(records.sealed(), "'setup'");
    }
    for (const char* part : {"train", "sampling", "experts", "validations"}) {
        Records records(text);
        Json& curve = records.find("curve")[part];
        const char* column = std::string(part) == "train"      ? "loss"
                             : std::string(part) == "sampling" ? "samples_drawn"
                             : std::string(part) == "experts"  ? "load"
                                                               : "value";
        curve[column][3] = std::string(part) == "experts"    ? Json({0.5, 0.5})
                           : std::string(part) == "sampling" ? Json(3)
                                                             : Json(3.0);
        kept.refuses(records.sealed(), fmt::format("step 4 of its {} has '{}'", part, column));
    }
    // An attempt that another machine made of the same trial.
    Records other(text);
    for (Json& record : other.all)
        for (const char* key : {"uid", "attempt"})
            if (record.contains(key)) record[key] = "other-" + record[key].get<std::string>();
    CHECK_THAT(kept.refuses(other.sealed(), "is of another run than attempt 1 in " + kept.measured.file().string()),
               ContainsSubstring("trained twice"));
}

TEST_CASE("of several texts that disagree none is merged") {
    const Kept kept;
    const MeasuredSweep further({.seeds = {3}});
    Records records(further.text());
    Json& attempt = records.find("attempt");
    attempt["ended_ms"] = 1;
    Writer writer(kept.measured.file());
    const std::string said = refusal(
        ErrorKind::database,
        [&] {
            writer.merge({{"a.jsonl", further.text()}, {"b.jsonl", records.sealed()}});
        },
        "b.jsonl:");
    CHECK_THAT(said, ContainsSubstring("the one in a.jsonl:") && ContainsSubstring("'ended_ms'"));
    CHECK(dump_of(kept.measured.file()) == kept.before);
}

TEST_CASE("a configuration that does not have its hash is refused") {
    const Kept kept;
    const std::string text = MeasuredSweep({.seeds = {2}}).text();
    const std::string says = "do not have the hashes";
    Records config(text);
    config.change_shared([](const Json& value) { return value.is_object() && value.contains("train"); },
                         [](Json& value) { value["train"]["budget_tokens"] = 1001; });
    kept.refuses(config.sealed(), says);
    Records seed(text);
    seed.find("trial")["seed"] = 3;
    kept.refuses(seed.sealed(), says);
    Records variant(text);
    variant.find("trial")["variant_hash"] = std::string(64, '0');
    kept.refuses(variant.sealed(), says);
    Records shared(text);
    shared.find("shared")["value"]["more"] = 1;
    kept.refuses(shared.sealed(), "its id is not the hash of its value");
    // Where files were does not decide a result, and is free.
    Records local(text);
    local.change_shared([](const Json& value) { return value.is_object() && value.contains("local"); },
                        [](Json& value) { value["local"]["log_every"] = 20; });
    Writer writer(kept.measured.file());
    CHECK(writer.merge({{"local", local.sealed()}}).at(0).trials == 2);
}

TEST_CASE("evidence that is written to do harm is refused") {
    const Kept kept;
    const std::string text = MeasuredSweep({.seeds = {2}}).text();
    const auto refuses = [&](const std::string& kind, const std::function<void(Json&)>& change,
                             const std::string& says) {
        Records records(text);
        change(records.find(kind));
        kept.refuses(records.sealed(), says);
    };
    refuses(
        "sweep", [](Json& one) { one["name"] = "../../etc"; }, "its 'name' is not a valid name");
    refuses(
        "sweep", [](Json& one) { one["command"] = "deft run x.toml; rm -rf ."; }, "more than the words");
    refuses(
        "sweep", [](Json& one) { one["command"] = "rm x"; }, "not a deft run");
    refuses(
        "sweep", [](Json& one) { one["points"] = "$(reboot)"; }, "more than the words");
    refuses(
        "sweep", [](Json& one) { one["spec_sha256"] = "x"; }, "is not a SHA-256 hash");
    refuses(
        "sweep", [](Json& one) { one["uid"] = "x"; }, "unknown key 'uid'");
    refuses(
        "sweep", [](Json& one) { one.erase("title"), one["title"] = 5; }, "its 'title' is not a string");
    refuses(
        "sweep", [](Json& one) { one["record"] = "sweeps"; }, "unknown kind 'sweeps'");
    refuses(
        "sweep", [](Json& one) { one["record"] = "verdict"; }, "x.jsonl");
    refuses(
        "trial", [](Json& one) { one["label"] = std::string("a\0b", 3); }, "zero byte");
    refuses(
        "trial", [](Json& one) { one["label"] = ""; }, "its 'label' is empty");
    refuses(
        "trial", [](Json& one) { one["seed"] = 1.5; }, "its 'seed' is not a 64-bit integer");
    refuses(
        "trial", [](Json& one) { one["seed"] = 18446744073709551615u; }, "its 'seed' is not a 64-bit integer");
    refuses(
        "trial", [](Json& one) { one["config"] = Json::array(); }, "no shared value");
    refuses(
        "place", [](Json& one) { one["trial"] = std::string(64, '0'); }, "does not have its trial");
    refuses(
        "place", [](Json& one) { one["axes_json"] = Json::array(); }, "axes are not an object");
    refuses(
        "place", [](Json& one) { one["seeds"] = "1.x"; }, "its seeds are none");
    refuses(
        "place", [](Json& one) { one["row"] = -1; }, "no row");
    refuses(
        "place",
        [](Json& one) {
            one["imported_json"] = {{"from", 5}};
        },
        "imported model cannot be read");
    refuses(
        "attempt", [](Json& one) { one["state"] = "running"; }, "CHECK");
    refuses(
        "attempt", [](Json& one) { one["number"] = 0; }, "CHECK");
    refuses(
        "attempt", [](Json& one) { one["own_seconds"] = -1.0; }, "'own_seconds' is less than 0");
    refuses(
        "attempt", [](Json& one) { one["own_seconds"] = "1"; }, "'own_seconds' is not a number");
    refuses(
        "attempt", [](Json& one) { one.erase("setup"); }, "no shared value");
    refuses(
        "attempt", [](Json& one) { one["workdir"] = "runs/x"; }, "unknown key 'workdir'");
    refuses(
        "attempt", [](Json& one) { one["checkpoints"][0]["path"] = "../../x"; }, "leads elsewhere");
    refuses(
        "attempt", [](Json& one) { one["checkpoints"][0]["path"] = "/etc/passwd"; }, "leads elsewhere");
    refuses(
        "attempt", [](Json& one) { one["checkpoints"] = 5; }, "no array 'checkpoints'");
    refuses(
        "curve", [](Json& one) { one["attempt"] = "none"; }, "does not have the attempt");
    refuses(
        "curve", [](Json& one) { one["train"]["loss"].erase(0); }, "another length");
    refuses(
        "curve", [](Json& one) { one["train"].erase("loss"); }, "other columns");
    refuses(
        "curve", [](Json& one) { one["train"]["step"][1] = 1; }, "not in order");
    refuses(
        "curve", [](Json& one) { one["train"]["loss"][1] = "much"; }, "'loss'");
    refuses(
        "curve", [](Json& one) { one["validations"]["score_key"] = "x"; }, "is a score");
    refuses(
        "curve", [](Json& one) { one["train"] = Json::array(); }, "other columns");
    refuses(
        "verdict", [](Json& one) { one["kind"] = "bench"; }, "on no claim");
    refuses(
        "verdict", [](Json& one) { one["result"] = "fine"; }, "CHECK");

    Records twice(text);
    twice.all.push_back(twice.find("attempt"));
    kept.refuses(twice.sealed(), "the file lists the attempt twice");
    Records trials(text);
    trials.all.push_back(trials.find("trial"));
    kept.refuses(trials.sealed(), "the file lists the trial twice");
    Records sweeps(text);
    sweeps.all.push_back(sweeps.find("sweep"));
    kept.refuses(sweeps.sealed(), "a second sweep");
    Records curves(text);
    curves.all.push_back(curves.find("curve"));
    kept.refuses(curves.sealed(), "a second curve");
    Records none(text);
    std::erase_if(none.all, [](const Json& record) { return record.at("record") == "sweep"; });
    kept.refuses(none.sealed(), "no sweep");

    const auto shares = [&](const std::function<bool(const Json&)>& is_it, const std::function<void(Json&)>& change,
                            const std::string& says) {
        Records records(text);
        records.change_shared(is_it, change);
        kept.refuses(records.sealed(), says);
    };
    const auto is_config = [](const Json& value) { return value.is_object() && value.contains("local"); };
    const auto is_asked = [](const Json& value) { return value.is_array(); };
    const auto is_setup = [](const Json& value) { return value.is_object() && value.contains("host"); };
    const auto is_task = [](const Json& value) { return value.is_object() && value.contains("measures"); };
    shares(
        is_config, [](Json& value) { value["local"]["train_files"][0] = "/dev/zero"; }, "outside of its own folder");
    shares(
        is_config, [](Json& value) { value["local"]["base_folder"] = "a/../.."; }, "outside of its own folder");
    shares(
        is_asked, [](Json& value) { value[0]["task"] = "/dev/zero"; }, "leads elsewhere");
    shares(
        is_asked, [](Json& value) { value[0] = "piqa"; }, "not a JSON object");
    shares(
        is_setup, [](Json& value) { value["device"] = "tpu"; }, "CHECK");
    shares(
        is_setup, [](Json& value) { value["devices"] = 0; }, "CHECK");
    shares(
        is_setup, [](Json& value) { value["host"]["cores"] = "many"; }, "'cores' is not a count");
    shares(
        is_setup, [](Json& value) { value.erase("code"); }, "not a JSON object");
    shares(
        is_task, [](Json& value) { value["measures"][0][2] = "sideways"; }, "'better'");
    shares(
        is_task, [](Json& value) { value["measures"].erase(0); }, "one value for each measure");
}

TEST_CASE("evidence that would be deep, or is spelled otherwise, is refused before it is taken apart") {
    const Kept kept;
    const std::string text = MeasuredSweep({.seeds = {2}}).text();
    std::vector<std::string> lines = lines_in(text);
    lines[1] = std::string(1'000'000, '[') + "\n";
    kept.refuses(joined(lines), "nested deeper than 32");
    lines[1] = "{\"a\":\"" + std::string(1'000'000, '[') + "\"}\n";  // brackets within a string do not nest
    kept.refuses(joined(lines), "no 'check'");
    lines[1] = "{\"a\": 1}\n";
    kept.refuses(joined(lines), "not spelled as deft spells it");
    lines[1] = "{\"a\":1,\"a\":2}\n";
    kept.refuses(joined(lines), "not spelled as deft spells it");
    lines[1] = "{\"a\":1e999}\n";
    kept.refuses(joined(lines), "not a JSON object");
    lines[1] = "{\"a\":\"\xff\"}\n";
    kept.refuses(joined(lines), "not a JSON object");
    lines[1] = "\n";
    kept.refuses(joined(lines), "x.jsonl:2");
}
