#include "sweeps/gate/python_worker.h"

#include <fmt/format.h>

#include <optional>

#include "base/json.h"

namespace deft::sweeps {

PythonWorker::PythonWorker(const std::vector<std::string>& command, const std::string& task,
                           const std::string& packages)
    : python_(command.front()), task_(task), packages_(packages), process_(command) {}

Error PythonWorker::failure(const std::string& python, const std::string& task, const std::string& packages,
                            const std::string& why) {
    return Error(ErrorKind::io, fmt::format("{} could not {} ({})", python, task, why),
                 fmt::format("name a Python that has {}, or none", packages));
}

Json PythonWorker::read_answer() {
    const std::optional<std::string> line = process_.read_line();
    if (!line) {
        const std::string ending = process_.end();
        throw failure(fmt::format("{}: {}", ending.empty() ? "it ended" : ending, process_.last_complaint()));
    }
    process_.freeze();
    Json answer = try_parse_json(*line);
    if (!answer.is_object()) throw failure("no JSON but " + *line);
    return answer;
}

Json PythonWorker::ask(const std::string& request) {
    process_.thaw();
    if (!process_.write_line(request)) throw failure("it no longer listens");
    return read_answer();
}

}  // namespace deft::sweeps
