// The SQL views of results.db hold what reports print: compared on the kept evidence, which has stages, searches,
// imported models, several budgets and several workers.

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/files.h"
#include "base/score_key.h"
#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/cost/resource.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/load_results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/numbers.h"
#include "results_db/connection.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/evidence/a_measured_sweep.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::reporting;
using deft::test::TemporaryFolder;
using results_db::Connection;
using results_db::Statement;

namespace {

using Place = std::tuple<std::string, std::string, std::string, std::string>;  // stage, recipe, axes, seeds

bool is_close(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

// NULL where nothing is expected, or no finite number.
void check_number(const Statement& query, int column, const std::optional<double>& expected) {
    if (!expected || !std::isfinite(*expected)) {
        CHECK(query.is_null(column));
        return;
    }
    CHECK_FALSE(query.is_null(column));
    INFO(query.real(column) << " for " << *expected);
    CHECK(is_close(query.real(column), *expected));
}

template <auto Member>
std::optional<double> of_point(const results_db::TrialRow& trial) {
    if (!trial.last_point) return std::nullopt;
    return static_cast<double>((*trial.last_point).*Member);
}

std::string seeds_of(const results_db::TrialRow& trial) {
    return trial.seeds.empty() ? std::to_string(trial.seed) : trial.seeds;
}

void check_trials(Connection& connection, const results_db::SweepHead& head, const Results& results) {
    std::map<Place, const Trial*> trials;
    for (const auto* list : {&results.trials, &results.searched})
        for (const Trial& trial : *list) trials[{trial.stage, trial.recipe, trial.axes_json, seeds_of(trial)}] = &trial;
    Statement query(connection,
                    "SELECT stage, recipe, axes, seeds, config_hash, state, fail_class, attempts, parameters, git_sha,"
                    " host, cpu, is_search, newer_state, newer_hash, budget_fraction, worker, workers, dataset,"  // 18
                    " steps, input_tokens, unique_tokens, layer_tokens, flops, train_seconds, device_seconds, usd,"
                    " active_parameters, peak_memory_bytes, is_imported, result_epoch, planned_steps"
                    " FROM v_trial WHERE sweep = ?1 AND spec_sha256 = ?2");
    query.bind(head.name, head.spec_sha256);
    std::size_t rows = 0;
    while (query.step()) {
        const Place place{query.text(0), query.text(1), query.text(2), query.text(3)};
        INFO(head.name << " " << query.text(0) << " " << query.text(1) << query.text(2) << "/" << query.text(3));
        REQUIRE(trials.contains(place));
        const Trial& trial = *trials.at(place);
        ++rows;
        CHECK(query.text(4) == trial.config_hash);
        CHECK(query.text(5) == trial.state);
        CHECK(query.text(6) == trial.fail_class);
        CHECK(query.integer(7) == trial.attempts);
        CHECK(query.integer(8) == trial.parameters);
        CHECK(query.text(9) == trial.code.git_sha);
        CHECK(query.text(10) == trial.host.hostname);
        CHECK(query.text(11) == trial.host.cpu_model);
        CHECK((query.integer(12) != 0) == (trial.stage == results_db::kSearchStage));
        CHECK(query.text(13) == trial.newer_state);
        CHECK(query.text(14) == trial.newer_hash);
        const Axes axes = parse_axes(trial.axes_json);
        check_number(query, 15, axes.has_budget ? std::optional(axes.budget_fraction) : std::nullopt);
        const auto shapes = slot_shapes(trial);
        CHECK(query.text(16) == (shapes.size() == 1 ? *shapes.begin() : ""));
        CHECK(query.integer(17) == static_cast<std::int64_t>(shapes.size()));
        CHECK(query.text(18) == trial.dataset_name);
        using journal::TrainPoint;
        check_number(query, 19, of_point<&TrainPoint::step>(trial));
        check_number(query, 20, of_point<&TrainPoint::input_tokens>(trial));
        check_number(query, 21, of_point<&TrainPoint::unique_tokens>(trial));
        check_number(query, 22, of_point<&TrainPoint::layer_tokens>(trial));
        check_number(query, 23, of_point<&TrainPoint::flops>(trial));
        const auto wall_ms = of_point<&TrainPoint::wall_ms>(trial);
        check_number(query, 24, wall_ms ? std::optional(*wall_ms / 1000) : std::nullopt);
        if (!trial.imported && trial.device_seconds > 0) check_number(query, 25, trial.device_seconds);
        check_number(query, 26, trial.usd);
        CHECK(query.integer(27) == trial.active_parameters);
        CHECK(query.integer(28) == trial.peak_rss_bytes);
        CHECK((query.integer(29) != 0) == trial.imported.has_value());
        CHECK(query.maybe_integer(30) == trial.settings.result_epoch);
        CHECK(query.integer(31) == trial.total_steps);
    }
    CHECK(rows == trials.size());
}

void check_scores(Connection& connection, const results_db::SweepHead& head, const Results& results) {
    Statement query(connection,
                    "SELECT value, standard_error, n, chance, step, score_key, model_sha256, git_sha, attempt, kind,"
                    " under_capacity, task_sha256 FROM v_score WHERE sweep = ?1 AND spec_sha256 = ?2 AND stage = ?3"
                    " AND recipe = ?4 AND axes = ?5 AND seeds = ?6 AND task = ?7 AND split = ?8 AND shots = ?9"
                    " AND metric = ?10 AND unit = ?11 AND direction = ?12");
    std::int64_t scores = 0;
    for (const auto* list : {&results.trials, &results.searched})
        for (const Trial& trial : *list)
            for (const Score& score : trial.scores) {
                INFO(results_db::trial_name(trial) << " " << score.task << " " << score.measure);
                ++scores;
                query.bind(head.name, head.spec_sha256, trial.stage, trial.recipe, trial.axes_json, seeds_of(trial),
                           score.task, score.split, score.shots, score.measure, score.unit, score.better);
                REQUIRE(query.step());
                check_number(query, 0, score.value);
                check_number(query, 1, score.standard_error);
                CHECK(query.integer(2) == score.n);
                check_number(query, 3, score.chance);
                CHECK(query.integer(4) == score.step);
                CHECK(query.text(5) == score.score_key);
                CHECK(query.text(6) == score.model_sha256);
                CHECK(query.text(7) == score.git_sha);
                CHECK(query.text(8) == score.attempt_uid);
                CHECK((query.text(9) == "finite") == std::isfinite(score.value));
                CHECK((query.integer(10) != 0) == id_of(score).under_capacity);
                CHECK(query.text(11) == score.task_sha256);
                CHECK_FALSE(query.step());
            }
    Statement count(connection, "SELECT count(*) FROM v_score WHERE sweep = ?1 AND spec_sha256 = ?2");
    REQUIRE(count.bind(head.name, head.spec_sha256).step());
    CHECK(count.integer(0) == scores);
}

void check_rows(Connection& connection, const results_db::SweepHead& head, const Results& results) {
    Statement query(
        connection,
        "SELECT mean, sd, n, seeds, trials, scored_trials, steps, input_tokens, unique_tokens, layer_tokens,"
        " flops, train_seconds, usd FROM v_row WHERE sweep = ?1 AND spec_sha256 = ?2 AND stage = ?3"
        " AND recipe = ?4 AND axes = ?5 AND task = ?6 AND split = ?7 AND shots = ?8 AND metric = ?9"
        " AND unit = ?10 AND under_capacity = ?11");
    std::size_t found = 0;
    for (const Row& row : rows_of(results)) {
        for (const ScoreColumn& column : score_columns(results)) {
            const std::vector<double> values = column.scores.values(row);
            const ScoreId& id = column.id;
            INFO(row.name << " " << title(id));
            query.bind(head.name, head.spec_sha256, row.stage, row.recipe, row.trials.front()->axes_json, id.task,
                       id.split, id.shots, id.metric, id.unit, id.under_capacity);
            CHECK(query.step() == !values.empty());
            if (values.empty()) continue;
            ++found;
            check_number(query, 0, mean(values));
            check_number(query, 1, values.size() > 1 ? std::optional(standard_deviation(values)) : std::nullopt);
            CHECK(query.integer(2) == static_cast<std::int64_t>(values.size()));
            CHECK(query.integer(3) == static_cast<std::int64_t>(unit_count(row.ok)));
            CHECK(query.integer(4) == static_cast<std::int64_t>(row.ok.size()));
            std::int64_t scored = 0;
            for (const Trial* trial : row.ok) scored += column.find(*trial) != nullptr ? 1 : 0;
            CHECK(query.integer(5) == scored);
            int at = 6;
            for (const Resource& resource : resources()) {
                if (std::string(resource.quantity) == "throughput") continue;
                INFO(resource.quantity);
                check_number(query, at++, mean_of(row, resource));
            }
            query.run();
        }
    }
    CHECK(found > 0);
}

void check_curves(Connection& connection, const results_db::SweepHead& head, const results_db::Reader& reader) {
    const auto curves = reader.curves(head);
    Statement query(connection,
                    "SELECT step, tokens, layer_tokens, flops, seconds, loss, lr, validation_loss FROM v_curve"
                    " WHERE experiment_id = (SELECT id FROM experiment WHERE config_hash = ?1) ORDER BY step");
    for (const auto& [hash, curve] : curves) {
        const std::map<std::int64_t, double> validation(curve.validation_losses.begin(), curve.validation_losses.end());
        INFO(hash);
        query.bind(hash);
        for (const journal::TrainPoint& point : curve.points) {
            REQUIRE(query.step());
            INFO(point.step);
            CHECK(query.integer(0) == point.step);
            CHECK(query.integer(1) == point.input_tokens);
            CHECK(query.integer(2) == point.layer_tokens);
            check_number(query, 3, point.flops);
            check_number(query, 4, static_cast<double>(point.wall_ms) / 1000);
            check_number(query, 5, point.loss);
            check_number(query, 6, point.lr);
            const auto validated = validation.find(point.step);
            check_number(query, 7, validated == validation.end() ? std::nullopt : std::optional(validated->second));
        }
        CHECK_FALSE(query.step());
    }
}

void check_database(const std::filesystem::path& file) {
    const results_db::Reader reader(file);
    Connection connection(file, Connection::Mode::read);
    REQUIRE_FALSE(reader.sweeps().empty());
    for (const results_db::SweepHead& head : reader.sweeps()) {
        const Results results = load_results(reader, results_db::full_name(head), unknown_inputs());
        check_trials(connection, head, results);
        check_scores(connection, head, results);
        check_rows(connection, head, results);
        check_curves(connection, head, reader);
    }
}

// A trial with attempts on several workers, each with the lines of its journal.
struct Attempted {
    results_db::Writer& writer;
    const TemporaryFolder& folder;
    std::int64_t trial_id;
    std::int64_t number = 0;

    void attempt(const std::string& state, const std::string& journal, const results_db::Shape& shape = {},
                 results_db::Work work = results_db::Work::train, std::optional<double> usd_per_hour = 3600) {
        ++number;
        results_db::NewAttempt attempt =
            test::an_attempt(std::to_string(trial_id) + "-" + std::to_string(number), number);
        attempt.shape = shape;
        attempt.work = work;
        if (usd_per_hour) attempt.price = results_db::Price{"sku", 1000, *usd_per_hour, "a list"};
        if (shape.device == "cuda") attempt.slots_json = R"({"device":"cuda","gpu_name":"Example GPU"})";
        const std::int64_t id =
            writer.begin_attempt(trial_id, writer.add_code(test::a_code()), writer.add_host(test::a_host()), attempt);
        writer.set_running(id, {1, 1, "boot"}, 1'000'000);
        write_file_atomically(folder / "journal.jsonl", journal);
        writer.ingest(id, folder / "journal.jsonl");
        results_db::Outcome outcome = test::ended_ok();
        outcome.state = state;
        if (state != "ok") outcome.fail_class = "preempt";
        outcome.own_seconds =
            work == results_db::Work::train ? std::optional(10.0 + static_cast<double>(number)) : std::nullopt;
        outcome.ended_ms = 1'060'000;
        writer.end_attempt(id, outcome);
    }
};

std::string started_at(std::int64_t step) {
    journal::Started started;
    started.time_ms = 1'001'000;
    started.resume_step = step;
    started.parameters = 99;
    return test::line(started);
}

std::string saved_at(std::int64_t step, double seconds) {
    return test::line(journal::Spent{1'010'000, step, seconds, 0.5, 0.25});
}

std::string model(const char* sha256, std::int64_t step) {
    return test::line(journal::Artifact{"checkpoint", "model.safetensors", sha256, 9, "final", step});
}

std::string scored_as(const std::string& key, const std::string& model_sha256, double value, std::int64_t step = 4) {
    journal::Evaluation one{step, "piqa", "1", "validation", 0, "acc", "", "higher", value, 20, 0.01, 0.5, key};
    return test::line(one) +
           test::line(journal::Scored{key, "piqa", std::string(64, 'a'), 0, 20, step, model_sha256, 0.5, 0, 0});
}

}  // namespace

TEST_CASE("SQL views hold the numbers of reports, for attempts that died, moved and were scored again") {
    using results_db::Work;
    const TemporaryFolder folder;
    {
        results_db::Writer writer(folder / "results.db");
        const auto sweep = writer.add_sweep({"quick", "s1", "name = 'quick'", "[]"});
        std::int64_t ordinal = 0;
        const auto add = [&](const std::string& name, const std::string& recipe, const std::string& seeds) {
            const auto id = writer.add_trial(test::a_trial(name, ordinal + 1));
            results_db::TrialPlace place{ordinal++, recipe, "{}"};
            place.seeds = seeds;
            place.stage = seeds.find('.') == std::string::npos ? "" : "tuned";
            place.scores_json = R"([{"task":"piqa","shots":0,"key":"asked"}])";
            writer.add_place(sweep, id, place);
            return Attempted{writer, folder, id};
        };
        const results_db::Shape two{"cpu", 2, 1, 1}, gpu{"cuda", 1, 2, 1}, ranks{"cuda", 4, 1, 4};
        const std::string points = test::line(test::a_point(1)) + test::line(test::a_point(2)) +
                                   test::line(test::a_point(3)) + test::line(test::a_point(4));
        // Goes on from a checkpoint on another worker; is trained again to another model; is scored many times.
        Attempted moved = add("moved", "plain", "1");
        moved.attempt("preempted", started_at(0) + points + saved_at(2, 3));
        moved.attempt("ok", started_at(2) + points + model("old", 4), two);
        moved.attempt("ok", scored_as("asked", "old", 0.125) + scored_as("capacity-other", "old", 0.0625), two,
                      Work::score);
        moved.attempt("failed", started_at(0), two);
        moved.attempt("ok", scored_as("not asked", "old", 0.75), two, Work::score);
        // Dies after a checkpoint that nothing went on from; and before any.
        Attempted died = add("died", "plain", "2");
        died.attempt("preempted", started_at(0) + points);
        died.attempt("failed", started_at(2) + points + saved_at(3, 4), gpu);
        Attempted lost = add("lost", "gpu", "1");
        lost.attempt("failed", started_at(0) + points, ranks);
        lost.attempt("ok", started_at(0) + points + model("new", 4), gpu);
        lost.attempt("ok", scored_as("asked", "former", 0.5), gpu, Work::score);
        lost.attempt("ok", scored_as("asked", "new", 0.625), gpu, Work::score);
        lost.attempt("ok", scored_as("asked", "former", 0.875), gpu, Work::score);
        // Without a price; and a validation of another model than the result.
        Attempted free = add("free", "gpu", "2");
        free.attempt("ok", started_at(0) + points + scored_as(kWhileTraining, "", 0.25), gpu, Work::train,
                     std::nullopt);
        free.attempt("ok", scored_as("asked", "", 0.375), ranks, Work::score);
        // Two tunings of one pretraining, and one of another.
        int times = 0;
        for (const char* seeds : {"1.1", "1.2", "2.1"}) {
            Attempted tuned = add(seeds, "tuned", seeds);
            tuned.attempt("ok", started_at(0) + points, ranks);
            tuned.attempt("ok", scored_as("asked", "", 0.25 * ++times), ranks, Work::score);
        }
        // As a sweep whose data changed: the newest training failed, and an older one shows.
        const auto place_again = [&](const std::string& name, const char* state) {
            const auto id = writer.add_trial(test::a_trial(name, 9));
            writer.add_place(sweep, id, {50, "changed", "{}"});
            Attempted{writer, folder, id}.attempt(state, started_at(0) + points);
        };
        place_again("first", "ok");
        place_again("second", "ok");
        place_again("third", "failed");
    }
    check_database(folder / "results.db");
}

TEST_CASE("SQL views hold the numbers of reports, for kept evidence") {
    for (const char* name : {"gpt_combined_proxy", "low_budget_proxy_gpu", "moe_quality_proxy", "gpt2_ptb_proxy",
                             "vit_finetune_proxy", "gpt_combined_short"}) {
        INFO(name);
        const TemporaryFolder folder;
        const std::filesystem::path file =
            std::filesystem::path(DEFT_SOURCE_DIR "/evidence") / (name + std::string(".jsonl"));
        results_db::Writer(folder / "results.db").merge({{name, read_file(file)}});
        check_database(folder / "results.db");
    }
}

TEST_CASE("SQL views hold the numbers of reports, for later seeds, scores under way and numbers that are not finite") {
    const TemporaryFolder folder;
    {
        results_db::Writer writer(folder / "results.db");
        test::measure(writer, folder);
        test::MeasuredOptions later;
        later.seeds = {3};
        later.has_live_attempt = true;
        test::measure(writer, folder, later);
    }
    check_database(folder / "results.db");
}
