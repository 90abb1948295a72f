// Trials of version 5 and before, whose hash was also of what they were scored by, become trainings with scores.

#include <fmt/format.h>

#include "base/json.h"
#include "base/score_key.h"
#include "base/sha256.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

// A configuration as version 5 stored it.
Json former_config(std::int64_t seed, std::int64_t documents) {
    return {{"model", {{"layers", 2}}},
            {"seed", seed},
            {"train", {{"learning_rate", 0.001}}},
            {"eval",
             {{"documents", documents},
              {"tasks", {"lambada", "tasks/mine.toml"}},
              {"task_sha256", {"of lambada", "of mine"}},
              {"validation_tokens", 500}}},
            {"local", {{"log_every", 10}}}};
}

struct FormerTrial {
    std::string config_hash, variant_hash;
    std::int64_t trial_id = 0;
};

// A database of version 5 with trials that differ in what they were asked, and in their seeds.
class FormerDatabase {
 public:
    explicit FormerDatabase(const std::filesystem::path& file)
        : connection_(open_for_writing(file, migrations().first(5))) {
        connection_->execute(
            "UPDATE migration SET applied_ms = 0;"  // before its rows
            "INSERT INTO code (id, fingerprint, git_sha, git_branch, dirty, diff_sha256, binary_sha256, compiler,"
            " cxx_flags, build_type) VALUES (1, 'f', 'sha', 'main', 0, '', 'b', 'c', 'f', 'Release');"
            "INSERT INTO host (id, fingerprint, hostname, arch, cpu_model, cores, threads, mem_bytes, kernel, os)"
            " VALUES (1, 'h', 'n', 'x', 'c', 2, 2, 1, 'k', 'o');"
            "INSERT INTO metric (id, name, unit, better) VALUES (1, 'loss', 'nats/token', 'lower'),"
            " (2, 'acc', '', 'higher')");
    }

    FormerTrial add(const Json& config, const char* mark = nullptr) {
        Json hashed = config;
        hashed.erase("local");
        if (mark != nullptr) hashed["draws"] = mark;
        FormerTrial trial;
        trial.config_hash = sha256(canonical_json(hashed));
        const auto seed = config.at("seed").get<std::int64_t>();
        hashed.erase("seed");
        trial.variant_hash = sha256(canonical_json(hashed));
        Statement(*connection_,
                  "INSERT INTO experiment (config_hash, variant_hash, seed, config_json, label, created_ms)"
                  " VALUES (?1, ?2, ?3, ?4, 'case', 1)")
            .bind(trial.config_hash, trial.variant_hash, seed, canonical_json(config))
            .run();
        trial.trial_id = connection_->last_id();
        return trial;
    }

    void sweep(std::int64_t id, const std::vector<FormerTrial>& trials) {
        Statement(*connection_,
                  "INSERT INTO sweep (id, uid, name, spec_sha256, spec_toml, created_ms, use_order)"
                  " VALUES (?1, ?2, ?2, ?2, '', 1, ?1)")
            .bind(id, "sweep" + std::to_string(id))
            .run();
        for (std::size_t i = 0; i < trials.size(); ++i)
            Statement(*connection_,
                      "INSERT INTO sweep_member (sweep_id, experiment_id, case_key, ordinal, axes_json)"
                      " VALUES (?1, ?2, 'case', ?3, '{}')")
                .bind(id, trials[i].trial_id, static_cast<std::int64_t>(i))
                .run();
    }

    // An attempt that trained, scored and ended in that state.
    std::int64_t attempt(const FormerTrial& trial, std::int64_t number, const char* state, double acc,
                         const std::string& model) {
        Statement(
            *connection_,
            "INSERT INTO attempt (uid, experiment_id, number, state, code_id, host_id, worker, argv_json, workdir,"
            " created_ms, started_ms, ended_ms, resume_step, own_seconds)"
            " VALUES (?1, ?2, ?3, ?4, 1, 1, 'w', '[]', ?1, 1, 1, ?5, 0, 2.0)")
            .bind(fmt::format("a{}.{}", trial.trial_id, number), trial.trial_id, number, state,
                  std::string(state) == "running" ? std::nullopt : std::optional<std::int64_t>(2))
            .run();
        const std::int64_t id = connection_->last_id();
        Statement(
            *connection_,
            "INSERT INTO train_point (attempt_id, step, tokens, unique_tokens, layer_tokens, flops, wall_ms, loss,"
            " lr, grad_norm, tok_per_s, seqlen, kept_tokens) VALUES (?1, 8, 1, 1, 1, 1, 1, 2.5, 1, 1, 1, 1, 1)")
            .bind(id)
            .run();
        if (std::string(state) != "ok") return id;
        for (const auto& [task, metric, value] :
             {std::tuple("validation", 1, 2.0), std::tuple("lambada", 2, acc), std::tuple("mine", 2, acc / 2)})
            Statement(*connection_,
                      "INSERT INTO evaluation (attempt_id, step, code_id, task, task_version, split, shots, metric_id,"
                      " value, n) VALUES (?1, 8, 1, ?2, '1', 'test', ?3, ?4, ?5, 10)")
                .bind(id, task, std::string(task) == "mine" ? 3 : 0, metric, value)
                .run();
        Statement(*connection_, "INSERT INTO artifact (sha256, bytes, kind, path) VALUES (?1, 1, 'checkpoint', ?2)")
            .bind(model, fmt::format("checkpoints/{}/step_00000008/model.safetensors", trial.config_hash.substr(0, 16)))
            .run();
        Statement(*connection_,
                  "INSERT INTO attempt_artifact (attempt_id, artifact_id, role, step) VALUES (?1, ?2, 'final', 8)")
            .bind(id, connection_->last_id())
            .run();
        return id;
    }

    Connection& connection() { return *connection_; }

 private:
    std::unique_ptr<Connection> connection_;
};

double value_of(const StoredTrial& trial, const std::string& task) {
    for (const ScoreRow& score : trial.scores)
        if (score.task == task) return score.value;
    return -1;
}

}  // namespace

TEST_CASE("trials of version 5 that differ in what they were asked become one, and each sweep shows its own scores") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    FormerTrial few, many, other_seed, marked;
    {
        FormerDatabase former(file);
        few = former.add(former_config(1, 10));
        many = former.add(former_config(1, 100));
        other_seed = former.add(former_config(2, 10));
        marked = former.add(former_config(3, 10), "an order a cluster");
        former.sweep(1, {few, other_seed, marked});
        former.sweep(2, {many});
        former.attempt(few, 1, "failed", 0, "");
        former.attempt(few, 2, "ok", 0.5, "one model");
        former.attempt(many, 1, "ok", 0.7, "one model");
        former.attempt(other_seed, 1, "ok", 0.9, "another model");
        former.attempt(marked, 1, "running", 0, "");
        former.connection().execute(("INSERT INTO baseline (name, variant, variant_hash, measure_json, center, lo, hi, "
                                     "n, source_json, pinned_by,"
                                     " reason, created_ms) VALUES ('b', 'case', '" +
                                     few.variant_hash + "', '{}', 1, 1, 1, 1, '{}', 'x', 'y', 1)")
                                        .c_str());
    }
    Writer writer(file);
    CHECK(std::filesystem::exists(backup_of(file, 5)));
    const std::int64_t one = writer.trial_of(few.config_hash);
    CHECK(writer.trial_of(many.config_hash) == one);
    CHECK(writer.trial_of(other_seed.config_hash) != one);
    CHECK(writer.is_trained(one));
    CHECK(writer.trainings(one) == 3);
    CHECK(writer.live_attempts().size() == 1);
    const auto hashes = writer.config_hashes(one);
    REQUIRE(hashes.size() == 3);
    CHECK(hashes[0] != few.config_hash);
    CHECK(writer.result_checkpoint(one)->sha256 == "one model");

    // Requests of a new program with the same words count as scored, and nothing else does.
    CHECK(writer
              .unscored(one, {score_key("of lambada", 0, 10), score_key("of lambada", 0, 100),
                              score_key("of mine", 3, 10), score_key(kValidationTask, 0, 500)})
              .empty());
    CHECK(writer.unscored(one, {score_key("of lambada", 1, 10), score_key("of mine", 0, 10)}).size() == 2);
    CHECK(writer.unscored(writer.trial_of(marked.config_hash), {score_key("of lambada", 0, 10)}).size() == 1);

    const Reader reader(file);
    const StoredSweep first = reader.sweep("sweep1"), second = reader.sweep("sweep2");
    REQUIRE(first.trials.size() == 3);
    REQUIRE(second.trials.size() == 1);
    CHECK(first.trials[0].config_hash == second.trials[0].config_hash);
    CHECK(first.trials[0].state == "ok");
    CHECK(first.trials[0].unscored() == 0);
    CHECK(value_of(first.trials[0], "lambada") == 0.5);
    CHECK(value_of(first.trials[0], "mine") == 0.25);
    CHECK(value_of(second.trials[0], "lambada") == 0.7);
    CHECK(value_of(first.trials[1], "lambada") == 0.9);
    CHECK(first.trials[0].variant_hash == first.trials[1].variant_hash);
    CHECK(first.trials[2].variant_hash != first.trials[1].variant_hash);
    CHECK(reader.trial(few.config_hash.substr(0, 10)).config_hash == first.trials[0].config_hash);
    CHECK(reader.baselines().at(0).variant_hash == first.trials[0].variant_hash);
    Connection raw(file, Connection::Mode::write);
    CHECK_THROWS(raw.execute("UPDATE experiment SET config_hash = 'x'"));
    CHECK_THROWS(raw.execute("UPDATE baseline SET center = 2"));
}

TEST_CASE("of two live attempts that become one training's, one goes on") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    {
        FormerDatabase former(file);
        former.attempt(former.add(former_config(1, 10)), 1, "running", 0, "");
        former.attempt(former.add(former_config(1, 100)), 1, "running", 0, "");
    }
    Writer writer(file);
    CHECK(writer.live_attempts().size() == 1);
    CHECK(writer.trainings(writer.live_attempts()[0].trial_id) == 2);
}

TEST_CASE("a trial whose hash is not of its configuration stays as it was") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    {
        FormerDatabase former(file);
        const FormerTrial trial = former.add(former_config(1, 10));
        former.connection().execute("DROP TRIGGER experiment_ro; UPDATE experiment SET config_hash = 'cafe'");
        former.sweep(1, {trial});
        former.attempt(trial, 1, "ok", 0.5, "m");
    }
    Writer writer(file);
    const Reader reader(file);
    CHECK(reader.trial("cafe").state == "ok");
    CHECK(value_of(reader.sweep("sweep1").trials.at(0), "lambada") == 0.5);
}

TEST_CASE("a task that was listed twice and an [eval] of other types are no reason to stay at version 5") {
    const TemporaryFolder folder;
    const auto file = folder / "results.db";
    {
        FormerDatabase former(file);
        Json twice = former_config(1, 10);
        twice["eval"]["tasks"] = {"lambada", "lambada"};
        twice["eval"]["task_sha256"] = {"of lambada", "of lambada"};
        former.attempt(former.add(twice), 1, "ok", 0.5, "m");
        for (const Json& eval : {Json(3), Json::array({1}), Json{{"tasks", 3}, {"documents", "many"}},
                                 Json{{"tasks", {{"a", 1}}}, {"task_sha256", "x"}}, Json{{"tasks", {1}}}}) {
            Json odd = former_config(7, 10);
            odd["eval"] = eval;
            former.attempt(former.add(odd), 1, "ok", 0.5, "m");
        }
    }
    Connection before(file, Connection::Mode::read);
    const Writer writer(file);
    Connection after(file, Connection::Mode::read);
    CHECK(after.integer("PRAGMA user_version") == migrations().back().version);
    CHECK(after.integer("SELECT count(*) FROM evaluation") == 18);
    CHECK(after.integer("SELECT count(*) FROM score WHERE task = 'lambada'") == 1);
    CHECK(after.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0);
}
