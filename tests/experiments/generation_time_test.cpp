// Timing of continued texts: what is drawn and counted, not how long it takes.

#include "experiments/evaluation/generation_time.h"

#include "base/metric.h"
#include "engine/train/trainer.h"
#include "experiments/evaluation/evaluate_task.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;

namespace {

Task timed_task(std::int64_t texts, std::int64_t tokens, std::int64_t rounds) {
    Task task;
    task.name = "timed";
    task.kind = TaskKind::generation;
    task.metrics = {"ms_per_token", "tokens_per_second"};
    task.generation = {texts, tokens, rounds};
    return task;
}

// A model, planned for 5 samples of all its positions.
struct Planned {
    engine::TokenCorpus corpus = engine::tiny_corpus(500, 256);
    engine::Trainer trainer;
    engine::Backend backend;

    explicit Planned(std::int64_t positions = 12) : trainer(config(positions), corpus, 1) {}

    static engine::TrainerConfig config(std::int64_t positions) {
        engine::TrainerConfig config = engine::tiny_config(2, positions, 5);
        config.model.vocab = 257;
        return config;
    }
    std::vector<double> time(const Task& task, const BatchLoop& loop = {}) {
        return time_generation(task, trainer.model(), trainer.exec(), backend, 5, 256, loop);
    }
};

}  // namespace

TEST_CASE("a round is timed once for each value, and one goes first that nobody times") {
    Planned planned;
    int rounds = 0;
    const std::vector<double> seconds = planned.time(timed_task(3, 6, 4), {.between_batches = [&] { ++rounds; }});
    CHECK(rounds == 5);
    REQUIRE(seconds.size() == 4);
    for (const double value : seconds) CHECK(value > 0);
}

TEST_CASE("texts of more tokens than the model has positions end with them") {
    Planned planned;
    CHECK(planned.time(timed_task(1, 1000, 2)).size() == 2);
    CHECK(planned.time(timed_task(60, 11, 1)).size() == 1);  // as many texts as the memory of 5 samples of 12 holds
}

TEST_CASE("a model of too few positions for a token after the first is refused") {
    CHECK(Planned(3).time(timed_task(1, 64, 1)).size() == 1);
    CHECK_THAT(test::refusal([] { Planned(2).time(timed_task(1, 64, 1)); }),
               ContainsSubstring("times tokens after a text's first one, and the model has 2 positions"));
}

TEST_CASE("more texts than memory is planned for are refused before one is drawn") {
    Planned planned;
    CHECK_THAT(test::refusal([&] { planned.time(timed_task(61, 4, 1)); }),
               ContainsSubstring("task timed continues 61 texts at once, and the model is planned for 60"));
}

TEST_CASE("a token's time is the median of the rounds, and all texts' tokens are counted in it") {
    const Task task = timed_task(4, 8, 3);
    const std::vector<MetricValue> metrics = generation_metrics(task, {0.002, 0.5, 0.001});
    REQUIRE(metrics.size() == 2);
    CHECK(metrics[0].name == "ms_per_token");
    CHECK(metrics[0].value == 2.0);
    CHECK(metrics[0].n == 3);
    CHECK(metrics[1].name == "tokens_per_second");
    CHECK(metrics[1].value == 2000.0);  // four texts, 2 ms a token of each
}

TEST_CASE("of all kinds of task the metrics of generation are read off a clock, and no others") {
    for (const TaskKind kind :
         {TaskKind::multiple_choice, TaskKind::short_answer, TaskKind::last_word, TaskKind::perplexity,
          TaskKind::classification, TaskKind::regression, TaskKind::generation})
        for (const std::string& metric : metric_names(kind)) {
            INFO(metric);
            CHECK(is_timed(metric) == (kind == TaskKind::generation));
        }
}

TEST_CASE("the project's task of generation is scored like any other, and takes no shots") {
    Planned planned;
    const test::TemporaryFolder folder;
    const engine::Tokenizer tokenizer = engine::Tokenizer::bytes();
    const Task task = load_task("generation_time", folder.path());
    CHECK(with_shots(task, 5).shots == 0);
    CHECK(task_sha256(task) == task_sha256(load_task("generation_time", folder.path())));
    const TaskResult result = evaluate_task(task, {tokenizer, planned.trainer.model(), planned.trainer.exec(),
                                                   planned.backend, 5, 0, 1, folder.path(), 17});
    REQUIRE(result.scores.size() == 1);
    CHECK(result.scores[0].metric == "ms_per_token");
    CHECK(result.scores[0].unit == "ms/token");
    CHECK(result.scores[0].value > 0);
    CHECK(result.scores[0].task_version == task.version + ", texts end after 11 tokens, with the model's positions");
    CHECK(result.note == "texts end after 11 tokens, with the model's positions");
    CHECK(result.scores[0].n == task.generation.rounds);
    CHECK(result.items.empty());
}
