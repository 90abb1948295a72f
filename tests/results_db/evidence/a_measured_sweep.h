#pragma once
// A database with a measured sweep, whose configurations have the hashes that they should, and evidence that is changed
// and sealed again.

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/score_key.h"
#include "base/sha256.h"
#include "results_db/connection.h"
#include "results_db/evidence/text_lines.h"
#include "tests/results_db/fixture.h"

namespace deft::test {

inline results_db::Trial hashed_trial(std::int64_t seed, double budget) {
    Json config = {{"data", {{"corpus", "books"}, {"sha256", std::string(64, 'd')}}},
                   {"result_epoch", 4},
                   {"seed", seed},
                   {"train", {{"budget_fraction", budget}, {"budget_tokens", 1000}}}};
    results_db::Trial trial;
    trial.seed = seed;
    trial.config_hash = sha256(canonical_json(config));
    Json variant = config;
    variant.erase("seed");
    trial.variant_hash = sha256(canonical_json(variant));
    config["local"] = {
        {"base_folder", "/home/me/sweeps"}, {"train_files", {"/data/my texts/a.txt"}}, {"log_every", 10}};
    trial.config_json = canonical_json(config);
    trial.label = fmt::format("budget {}", budget);
    return trial;
}

struct MeasuredOptions {
    std::vector<std::int64_t> seeds = {1, 2};
    std::vector<double> budgets = {1.0, 0.5};
    std::string scale = "proxy";
    std::int64_t points = 5;
    double score = 0.25;  // of every trial, and a little for its seed
    bool has_live_attempt = false;
};

// The sweep "quick" at some seeds; its spec differs with them, as that of `deft run --seeds` does.
inline void measure(results_db::Writer& writer, const TemporaryFolder& folder, const MeasuredOptions& options = {}) {
    results_db::Code code = a_code();
    code.dirty = true;
    code.diff = "--- a\n";
    code.diff_sha256 = sha256("--- a\n");
    const auto code_id = writer.add_code(code), host_id = writer.add_host(a_host());
    results_db::Sweep sweep{"quick", sha256(fmt::format("{} {}", options.scale, options.seeds.front())),
                            "name = \"quick\"\nfile = \"/home/me/x.txt\"\n", "[]"};
    sweep.title = "A quick sweep";
    sweep.scale = options.scale;
    sweep.baseline = "plain";
    sweep.points = "quick.toml --scale " + options.scale;
    std::string list;
    for (const std::int64_t seed : options.seeds) list += fmt::format("{}{}", list.empty() ? "" : ",", seed);
    sweep.command = fmt::format("deft run {} --seeds {} --root '/home/me/my runs' --threads 2", sweep.points, list);
    sweep.claims_json = R"({"claims":[],"table":"t"})";
    const auto sweep_id = writer.add_sweep(sweep);
    std::int64_t ordinal = 0;
    const std::string key = score_key(std::string(64, 'a'), 0, 200);
    for (const double budget : options.budgets)
        for (const std::int64_t seed : options.seeds) {
            const results_db::Trial trial = hashed_trial(seed, budget);
            const auto id = writer.add_trial(trial);
            results_db::TrialPlace place{ordinal++, "plain", canonical_json({{"train.budget_fraction", budget}})};
            place.scores_json = canonical_json(Json::array({{{"task", "piqa"}, {"shots", 0}, {"key", key}}}));
            place.seeds = std::to_string(seed);
            writer.add_place(sweep_id, id, place);

            const std::string uid = fmt::format("run-{}-{}", seed, static_cast<int>(10 * budget));
            results_db::NewAttempt training = an_attempt(uid + "-1");
            training.argv_json = R"(["/proc/self/exe","trial","/home/me/runs/x"])";
            training.machine_json = R"({"hostname":"node7","kernel":"6.9","mem_bytes":123,"os":"Debian 13"})";
            training.libraries_json = R"({"oneDNN":"2.6.3"})";
            training.shape = {"cpu", 2, 1, 1};
            const auto trained = writer.begin_attempt(id, code_id, host_id, training);
            journal::Started started;
            started.time_ms = 1000 + seed;
            started.dataset_name = "books";
            started.dataset_sha256 = std::string(64, 'd');
            started.dataset_tokens = 5;
            started.total_steps = options.points;
            started.parameters = 87744;
            started.config_hash = trial.config_hash;
            std::string journal = line(started);
            for (std::int64_t step = 1; step <= options.points; ++step) {
                journal::TrainPoint point = a_point(step, step == 2 ? NAN : 4.0 + 1.0 / static_cast<double>(step + 6));
                journal += line(point) + line(journal::Sampling{step, 10, step * 4, 0, 0, 3, {1.5, 0.5}});
                journal::ExpertLoad load;
                load.step = step;
                load.layer = 1;
                load.load = {0.1, 0.9};
                load.entropy = 0.6;
                journal += line(load);
                journal::Evaluation validated = a_score(step, 64.0 - 0.125 * static_cast<double>(step));
                validated.score_key = kWhileTraining;
                journal += line(validated);
            }
            journal::Artifact checkpoint{"checkpoint", fmt::format("../../checkpoints/{}/model.safetensors", seed),
                                         sha256(uid),  99,
                                         "final",      options.points};
            write_text(folder / "journal.jsonl", journal + line(checkpoint));
            writer.ingest(trained, folder / "journal.jsonl");
            results_db::Outcome ended = ended_ok();
            ended.own_seconds = 10.1;
            ended.ended_ms = 5000;
            writer.end_attempt(trained, ended);

            results_db::NewAttempt scoring = an_attempt(uid + "-2", 2);
            scoring.work = results_db::Work::score;
            const auto scored = writer.begin_attempt(id, code_id, host_id, scoring);
            journal::Evaluation accuracy = {options.points,
                                            "piqa",
                                            "0.2.0",
                                            "validation",
                                            0,
                                            "acc",
                                            "",
                                            "higher",
                                            options.score + 0.01 * static_cast<double>(seed),
                                            200,
                                            0.03,
                                            0.5,
                                            key};
            journal::Evaluation bits = accuracy;
            bits.metric = "gold_bits_per_byte";
            bits.better = "lower";
            bits.value = INFINITY;
            bits.standard_error = bits.chance = NAN;
            journal::Scored whole{key, "piqa", std::string(64, 'a'), 0, 200, options.points, sha256(uid), 0.5, 0.25, 0};
            whole.items = "{}\n{}\n";
            whole.definition_sha256 = std::string(64, 'b');
            write_text(folder / "scored.jsonl", line(accuracy) + line(bits) + line(whole));
            writer.ingest(scored, folder / "scored.jsonl");
            results_db::Outcome failed = ended_ok();
            failed.error = "warned: cannot read /home/me/x.txt: gone";
            failed.ended_ms = 6000;
            writer.end_attempt(scored, failed);
            if (options.has_live_attempt) {
                results_db::NewAttempt again = an_attempt(uid + "-3", 3);
                again.work = results_db::Work::score;
                writer.begin_attempt(id, code_id, host_id, again);
            }
        }
    results_db::VerdictRow verdict;
    verdict.check_uid = "c0ffee";
    verdict.created_ms = 7000;
    verdict.kind = "claim";
    verdict.subject_json =
        canonical_json({{"claim", "half"}, {"sweep", "quick"}, {"spec_sha256", sweep.spec_sha256}, {"scale", "proxy"}});
    verdict.effect = 0.125;
    verdict.result = "holds";
    verdict.text = "It holds.";
    results_db::VerdictRow other = verdict;
    other.kind = "quality";
    writer.add_verdicts({verdict, other});
}

// A database of a folder of its own.
struct MeasuredSweep {
    explicit MeasuredSweep(const MeasuredOptions& options = {}) {
        results_db::Writer writer(file());
        measure(writer, folder, options);
    }
    std::filesystem::path file() const { return folder / "results.db"; }
    std::string text(std::size_t most_bytes = results_db::kMostEvidenceBytes) const {
        return results_db::Reader(file()).evidence("quick", most_bytes).text;
    }
    TemporaryFolder folder;
};

// All rows of all tables.
inline std::string dump_of(const std::filesystem::path& file) {
    results_db::Connection connection(file, results_db::Connection::Mode::read);
    std::vector<std::string> tables;
    results_db::Statement names(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    while (names.step())
        if (const std::string name = names.text(0); name != "sqlite_sequence" && name.rfind("sqlite_stat", 0) != 0)
            tables.push_back(name);
    std::string text;
    for (const std::string& table : tables) {
        results_db::Statement columns(connection, "SELECT name FROM pragma_table_xinfo(?1)");
        columns.bind(table);
        std::string all;
        while (columns.step()) all += (all.empty() ? "quote(" : " || '|' || quote(") + columns.text(0) + ")";
        results_db::Statement rows(connection, ("SELECT " + all + " FROM " + table + " ORDER BY 1").c_str());
        while (rows.step()) text += table + ": " + rows.text(0) + "\n";
    }
    return text;
}

// Records of an evidence text with their kinds, to be changed.
struct Records {
    explicit Records(const std::string& text) {
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = text.find('\n', begin);
            Json record = parse_json(text.substr(begin, end - begin));
            record.erase("check");
            all.push_back(std::move(record));
            begin = end + 1;
        }
        all.pop_back();  // the end
    }
    // The first of that kind for which `is_it` holds.
    Json& find(
        const std::string& kind, const std::function<bool(const Json&)>& is_it = [](const Json&) { return true; }) {
        for (Json& record : all)
            if (record.at("record") == kind && is_it(record)) return record;
        throw std::runtime_error("no such record");
    }
    // Changes a shared value, and its id wherever it occurs.
    void change_shared(const std::function<bool(const Json&)>& is_it, const std::function<void(Json&)>& change) {
        Json& record = find("shared", [&](const Json& one) { return is_it(one.at("value")); });
        const std::string before = record.at("id");
        change(record.at("value"));
        const std::string after = sha256(record.at("value").dump()).substr(0, 16);
        if (after == before) return;
        for (Json& one : all) {
            std::string text = one.dump();
            for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before))
                text.replace(at, before.size(), after);
            one = parse_json(text);
        }
    }
    std::string sealed() const {
        std::string text;
        for (Json record : all) {
            const std::string kind = record.at("record");
            record.erase("record");
            text += results_db::evidence_line(kind, std::move(record)) + '\n';
        }
        return text + results_db::end_line(text) + '\n';
    }
    std::vector<Json> all;
};

}  // namespace deft::test
