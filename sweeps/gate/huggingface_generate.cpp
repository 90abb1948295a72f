#include "sweeps/gate/huggingface_generate.h"

#include <fmt/format.h>

#include "base/error.h"
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

Error cannot_generate(const std::string& python, const std::string& why) {
    return Error(ErrorKind::io, fmt::format("{} could not generate with transformers ({})", python, why),
                 "name a Python that has transformers and torch, or none");
}

}  // namespace

HuggingfaceWorker::HuggingfaceWorker(const std::string& python, const engine::GenerateBench& bench,
                                     const std::filesystem::path& folder)
    : python_(python), process_(generate_command(python, bench, folder)) {
    const Json hello = read_answer();
    try {
        version_ = fmt::format("{}, torch {}", hello.at("version").get<std::string>(),
                               hello.at("torch").get<std::string>());
    } catch (const Json::exception& wrong) {
        throw cannot_generate(python_, wrong.what());
    }
}

Json HuggingfaceWorker::read_answer() {
    const std::optional<std::string> line = process_.read_line();
    if (!line) {
        const std::string ending = process_.end();
        throw cannot_generate(python_, fmt::format("{}: {}", ending.empty() ? "it ended" : ending,
                                                   process_.last_complaint()));
    }
    process_.freeze();
    Json answer = try_parse_json(*line);
    if (!answer.is_object()) throw cannot_generate(python_, "no JSON but " + *line);
    return answer;
}

double HuggingfaceWorker::run(std::int64_t tokens, long runs) {
    process_.thaw();
    if (!process_.write_line(fmt::format("{} {}", tokens, runs))) throw cannot_generate(python_, "it no longer listens");
    const Json answer = read_answer();
    try {
        tokens_ = answer.at("tokens").get<std::vector<std::int32_t>>();
        return answer.at("seconds").get<double>();
    } catch (const Json::exception& wrong) {
        throw cannot_generate(python_, wrong.what());
    }
}

}  // namespace deft::sweeps
