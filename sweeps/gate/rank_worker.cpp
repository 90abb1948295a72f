#include "sweeps/gate/rank_worker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <istream>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
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
        throw Error(ErrorKind::usage, "a rank is asked for " + line, "ask for step or reduce, and how often");
    request.work = word == "step" ? Work::step : Work::reduce;
    return request;
}

std::vector<std::string> worker_command(const engine::StepBench& bench, int ranks, int threads) {
    require_mpirun();
    return mpirun_argv(
        ranks, {std::filesystem::read_symlink("/proc/self/exe").string(), "bench", "rank-worker", "--model",
                fmt::format("{}", fmt::join(engine::sizes_of(bench), ",")), "--threads", std::to_string(threads)});
}

}  // namespace

void serve_rank_steps(const engine::StepBench& bench, int threads, std::istream& requests, std::ostream& answers) {
    const engine::Communicator ranks = engine::Communicator::of_launcher();
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

RankWorker::RankWorker(const engine::StepBench& bench, int ranks, int threads)
    : process_(worker_command(bench, ranks, threads), mpirun_environment()) {
    const Json hello = read_answer();
    first_loss_ = hello.value("first_loss", 0.0);
    bytes_of_step_ = hello.value("bytes", std::int64_t{0});
}

// mpirun ends its ranks where it is asked to, and leaves them where it is killed.
RankWorker::~RankWorker() {
    process_.end();
}

Json RankWorker::read_answer() {
    const std::optional<std::string> line = process_.read_line();
    Json answer = line ? try_parse_json(*line) : Json();
    if (answer.is_object()) return answer;
    const std::string said = line ? *line : fmt::format("{}: {}", process_.end(), process_.last_complaint());
    throw Error(ErrorKind::io, fmt::format("the ranks that mpirun started could not train ({})", said),
                "try mpirun -n 2 with another program of MPI's, and see that memory suffices", "what is stored");
}

double RankWorker::seconds_of(const char* work, long times) {
    process_.write_line(fmt::format("{} {}", work, times));
    return read_answer().value("seconds", 0.0);
}

}  // namespace deft::sweeps
