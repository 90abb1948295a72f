#include "sweeps/gate/slot_bench.h"

#include <fmt/format.h>

#include <chrono>
#include <istream>
#include <ostream>

#include "base/error.h"
#include "base/json.h"
#include "base/stopwatch.h"

namespace deft::sweeps {

namespace {

constexpr std::chrono::minutes kPatience{10};
constexpr std::chrono::seconds kEndPatience{2};

}  // namespace

std::vector<engine::StepBench> slot_benches() {
    std::vector<engine::StepBench> benches = {{{4, 64, 2, 64, 257, 0.02}, 8}, {{4, 128, 4, 128, 1024, 0.02}, 4}};
    for (const engine::StepBench& bench : engine::standard_step_benches()) benches.push_back(bench);
    return benches;
}

Team::Team(const std::filesystem::path& program, std::size_t which, int processes, int threads) {
    for (int i = 0; i < processes; ++i)
        processes_.push_back(std::make_unique<PipedProcess>(std::vector<std::string>{
            program, "bench", "serve-steps", std::to_string(which), "--threads", std::to_string(threads)}));
    for (auto& process : processes_) read_seconds(*process);
    freeze();
}

double Team::read_seconds(PipedProcess& process) {
    const std::optional<std::string> line = process.read_line(kPatience);
    const Json answer = line ? Json::parse(*line, nullptr, /*allow_exceptions=*/false) : Json();
    if (answer.is_object()) return answer.value("seconds", 0.0);
    const std::string ending = line ? "said " + *line : process.end(kEndPatience);
    throw Error(ErrorKind::io,
                fmt::format("a process that trains for the benchmark failed: {} {}", ending, process.last_complaint()));
}

void Team::freeze() {
    for (auto& process : processes_) process->freeze();
}

double Team::run(long steps) {
    for (auto& process : processes_) process->thaw();
    for (auto& process : processes_) process->write_line(std::to_string(steps));
    double rate = 0;  // steps a second
    for (auto& process : processes_) rate += static_cast<double>(steps) / read_seconds(*process);
    freeze();
    return 1 / rate;
}

void serve_steps(std::istream& requests, std::ostream& answers, const engine::StepBench& bench, int threads) {
    const engine::TokenCorpus corpus = engine::random_corpus(bench);
    engine::Trainer trainer(engine::trainer_config_of(bench), corpus, threads);
    trainer.step();
    answers << canonical_json({{"ready", true}}) << std::endl;
    for (long steps = 0; requests >> steps && steps > 0;) {
        const Clock::time_point start = Clock::now();
        for (long i = 0; i < steps; ++i) trainer.step();
        answers << canonical_json({{"seconds", seconds_since(start)}}) << std::endl;
    }
}

}  // namespace deft::sweeps
