#include "sweeps/gate/step_worker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <istream>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "sweeps/driver/mpirun.h"

namespace deft::sweeps {

namespace {

enum class Work : std::int64_t { end, step, reduce };

// The request that rank 0 reads and broadcasts.
struct Request {
    Work work = Work::end;
    std::int64_t times = 0;
};

Request read_request(std::istream& requests) {
    std::string line, word;
    Request request;
    if (!std::getline(requests, line)) return request;
    std::istringstream words(line);
    words >> word >> request.times;
    if (!words || request.times < 1 || (word != "step" && word != "reduce"))
        throw Error(ErrorKind::usage, "a worker is asked for " + line, "ask for step or reduce, and how often");
    request.work = word == "step" ? Work::step : Work::reduce;
    return request;
}

std::vector<std::string> worker_argv(const engine::StepBench& bench, int threads) {
    return {std::filesystem::read_symlink("/proc/self/exe").string(),   "bench",     "step-worker",          "--model",
            fmt::format("{}", fmt::join(engine::sizes_of(bench), ",")), "--threads", std::to_string(threads)};
}

}  // namespace

void serve_steps(const engine::StepBench& bench, int threads, const engine::Communicator& ranks, std::istream& requests,
                 std::ostream& answers) {
    engine::RankSteps steps(bench, threads, ranks);
    const auto answer = [&](const Json& json) {
        if (ranks.rank() == 0) answers << canonical_json(json) << std::endl;
    };
    answer({{"ranks", ranks.size()}, {"first_loss", steps.first_loss()}, {"bytes", steps.bytes_of_step()}});
    for (;;) {
        Request request = ranks.rank() == 0 ? read_request(requests) : Request{};
        ranks.broadcast(std::as_writable_bytes(std::span(&request, 1)), 0);
        if (request.work == Work::end) return;
        const long times = static_cast<long>(request.times);
        answer({{"seconds", request.work == Work::step ? steps.step(times) : steps.reduce(times)}});
    }
}

std::unique_ptr<LineWorker> start_steps(const engine::StepBench& bench, int threads) {
    std::vector<std::string> argv = worker_argv(bench, threads);
    argv.emplace_back("--alone");
    return std::make_unique<LineWorker>(
        WorkerProgram{std::move(argv), "a process could not train for the benchmark", "see that memory suffices"});
}

std::unique_ptr<LineWorker> start_ranks(const engine::StepBench& bench, int ranks, int threads) {
    require_mpirun();
    return std::make_unique<LineWorker>(WorkerProgram{
        mpirun_argv(ranks, worker_argv(bench, threads)), "the ranks that mpirun started could not train",
        "try mpirun -n 2 with another program of MPI's, and see that memory suffices", false, mpirun_environment()});
}

}  // namespace deft::sweeps
