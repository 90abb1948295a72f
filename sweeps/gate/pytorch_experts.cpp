#include "sweeps/gate/pytorch_experts.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/installed_files.h"
#include "base/json.h"

namespace deft::sweeps {

namespace {

std::vector<std::string> experts_command(const std::string& python, const engine::ExpertLayerBench& bench) {
    std::vector<std::string> command = {python, installed_file("engine/bench/pytorch_experts.py")};
    for (const std::int64_t number :
         {bench.rows, bench.width, bench.hidden, bench.experts, bench.top, std::int64_t{bench.threads}})
        command.push_back(std::to_string(number));
    return command;
}

Error cannot_run_experts(const std::string& python, const std::string& why) {
    return Error(ErrorKind::io, fmt::format("{} could not run PyTorch's layers of experts ({})", python, why),
                 "name a Python that has torch, or none");
}

}  // namespace

PytorchExpertsWorker::PytorchExpertsWorker(const std::string& python, const engine::ExpertLayerBench& bench)
    : python_(python), process_(experts_command(python, bench)) {
    const Json hello = read_answer();
    try {
        version_ = hello.at("version");
        modes_ = hello.at("modes").get<std::vector<std::string>>();
    } catch (const Json::exception& wrong) {
        throw cannot_run_experts(python_, wrong.what());
    }
}

Json PytorchExpertsWorker::read_answer() {
    const std::optional<std::string> line = process_.read_line();
    if (!line) {
        const std::string ending = process_.end();
        throw cannot_run_experts(
            python_, fmt::format("{}: {}", ending.empty() ? "it ended" : ending, process_.last_complaint()));
    }
    process_.freeze();
    Json answer = try_parse_json(*line);
    if (!answer.is_object()) throw cannot_run_experts(python_, "no JSON but " + *line);
    return answer;
}

double PytorchExpertsWorker::run(const std::string& mode, long runs) {
    process_.thaw();
    if (!process_.write_line(fmt::format("{} {}", mode, runs)))
        throw cannot_run_experts(python_, "it no longer listens");
    return read_answer().value("seconds", 0.0);
}

}  // namespace deft::sweeps
