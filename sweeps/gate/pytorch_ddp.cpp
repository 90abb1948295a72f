#include "sweeps/gate/pytorch_ddp.h"

#include <fmt/format.h>

#include "base/installed_files.h"
#include "base/json.h"
#include "engine/models/parts_json.h"

namespace deft::sweeps {

namespace {

std::vector<std::string> ddp_command(const std::string& python, const engine::StepBench& bench, int ranks,
                                     int threads) {
    Json model = engine::parts_json(bench.model);
    model["lengths"] = Json::array();
    return {python,
            installed_file("engine/bench/pytorch_ddp.py"),
            model.dump(),
            std::to_string(bench.batch_size),
            std::to_string(ranks),
            std::to_string(threads)};
}

}  // namespace

PytorchRanksWorker::PytorchRanksWorker(const std::string& python, const engine::StepBench& bench, int ranks,
                                       int threads)
    : worker_(ddp_command(python, bench, ranks, threads), "run PyTorch on several ranks", "torch with gloo") {
    const Json hello = worker_.read_answer();
    try {
        version_ = hello.at("version");
        has_fused_adamw_ = hello.at("fused");
        modes_ = hello.at("modes").get<std::vector<std::string>>();
        first_loss_ = hello.at("first_loss");
    } catch (const Json::exception& wrong) {
        throw worker_.failure(wrong.what());
    }
}

double PytorchRanksWorker::step(const std::string& mode, long steps) {
    return worker_.ask(fmt::format("{} {}", mode, steps)).value("seconds", 0.0);
}

}  // namespace deft::sweeps
