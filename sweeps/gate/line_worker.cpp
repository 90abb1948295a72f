#include "sweeps/gate/line_worker.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace deft::sweeps {

LineWorker::LineWorker(WorkerProgram program)
    : program_(std::move(program)), process_(program_.argv, program_.environment), hello_(read_answer()) {}

LineWorker::~LineWorker() {
    if (!program_.is_frozen) process_.end();
}

Error LineWorker::failure(const std::string& why) const {
    return Error(ErrorKind::io, fmt::format("{} ({})", program_.cannot, why), program_.help, "what is stored");
}

void LineWorker::send(const std::string& request) {
    if (program_.is_frozen) process_.thaw();
    if (!process_.write_line(request)) throw failure("it no longer listens");
}

Json LineWorker::read_answer() {
    const std::optional<std::string> line = process_.read_line();
    if (!line) {
        const std::string ending = process_.end();
        throw failure(fmt::format("{}: {}", ending.empty() ? "it ended" : ending, process_.last_complaint()));
    }
    if (program_.is_frozen) process_.freeze();
    Json answer = try_parse_json(*line);
    if (!answer.is_object()) throw failure("no JSON but " + *line);
    return answer;
}

Json LineWorker::ask(const std::string& request) {
    send(request);
    return read_answer();
}

void LineWorker::begin(const std::string& what, long times) {
    send(fmt::format("{} {}", what, times));
}

double LineWorker::seconds() {
    return part<double>(read_answer(), "seconds");
}

double LineWorker::run(const std::string& what, long times) {
    begin(what, times);
    return seconds();
}

std::function<double(long)> LineWorker::runs(std::string what) {
    return [this, what = std::move(what)](long times) { return run(what, times); };
}

}  // namespace deft::sweeps
