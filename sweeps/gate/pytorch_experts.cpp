#include "sweeps/gate/pytorch_experts.h"

#include <fmt/format.h>

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

}  // namespace

PytorchExpertsWorker::PytorchExpertsWorker(const std::string& python, const engine::ExpertLayerBench& bench)
    : worker_(experts_command(python, bench), "run PyTorch's layers of experts", "torch") {
    const Json hello = worker_.read_answer();
    try {
        version_ = hello.at("version");
        modes_ = hello.at("modes").get<std::vector<std::string>>();
    } catch (const Json::exception& wrong) {
        throw worker_.failure(wrong.what());
    }
}

double PytorchExpertsWorker::run(const std::string& mode, long runs) {
    return worker_.ask(fmt::format("{} {}", mode, runs)).value("seconds", 0.0);
}

}  // namespace deft::sweeps
