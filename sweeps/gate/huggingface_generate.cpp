#include "sweeps/gate/huggingface_generate.h"

#include <fmt/format.h>

#include "base/installed_files.h"
#include "base/json.h"

namespace deft::sweeps {

namespace {

std::vector<std::string> generate_command(const std::string& python, const engine::GenerateBench& bench,
                                          const std::filesystem::path& folder) {
    std::vector<std::string> command = {python, installed_file("engine/bench/huggingface_generate.py"), folder.string(),
                                        std::to_string(bench.threads), std::to_string(bench.samples)};
    for (const std::int32_t token : engine::prompt_of(bench)) command.push_back(std::to_string(token));
    return command;
}

}  // namespace

HuggingfaceWorker::HuggingfaceWorker(const std::string& python, const engine::GenerateBench& bench,
                                     const std::filesystem::path& folder)
    : worker_(generate_command(python, bench, folder), "generate with transformers", "transformers and torch") {
    const Json hello = worker_.read_answer();
    try {
        version_ =
            fmt::format("{}, torch {}", hello.at("version").get<std::string>(), hello.at("torch").get<std::string>());
    } catch (const Json::exception& wrong) {
        throw worker_.failure(wrong.what());
    }
}

double HuggingfaceWorker::run(std::int64_t tokens, long runs) {
    const Json answer = worker_.ask(fmt::format("{} {}", tokens, runs));
    try {
        tokens_ = answer.at("tokens").get<std::vector<std::int32_t>>();
        return answer.at("seconds").get<double>();
    } catch (const Json::exception& wrong) {
        throw worker_.failure(wrong.what());
    }
}

}  // namespace deft::sweeps
