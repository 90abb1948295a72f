#include "sweeps/gate/arm.h"

#include <fmt/format.h>
#include <sched.h>

#include <cmath>

#include "reporting/text.h"
#include "sweeps/driver/foreign_json.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/gate/worker.h"

namespace deft::sweeps {

namespace {

void pin(pid_t pid, const std::vector<int>& processors) {
    if (processors.empty()) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int processor : processors) CPU_SET(processor, &set);
    (void)::sched_setaffinity(pid, sizeof set, &set);  // where it is not allowed, times are only noisier
}

// An object, or null.
Json parse_object(const std::string& line) {
    Json value = try_parse_json(line);
    return value.is_object() ? value : Json();
}

std::optional<double> seconds_of(const Json& object, const char* key) {
    const std::optional<double> seconds = number_of(object, key);
    return seconds && *seconds > 0 && std::isfinite(*seconds) ? seconds : std::nullopt;
}

std::string how_it_ended(PipedProcess& process) {
    const std::string ending = process.end(), complaint = reporting::visible(process.last_complaint());
    return (ending.empty() ? "ended" : ending) + (complaint.empty() ? "" : ": " + complaint);
}

}  // namespace

Arm::Arm(const std::filesystem::path& program, int threads, const std::vector<int>& processors)
    : program_(program.string()), process_({program_, "bench", "serve", "--threads", std::to_string(threads)}) {
    pin(process_.pid(), processors);
    const std::optional<std::string> line = process_.read_line();
    process_.freeze();
    if (!line)
        throw Error(ErrorKind::usage,
                    fmt::format("{} cannot be compared: it did not answer `bench serve` ({})", program_,
                                how_it_ended(process_)),
                    "compare programs that know `deft bench ab`: both are of a commit that has it");
    const Json hello = parse_object(*line);
    const std::optional<double> version = hello.is_null() ? std::nullopt : number_of(hello, "deft_bench");
    if (!version) refuse("bench serve", *line);
    if (*version != kBenchProtocol)
        throw Error(ErrorKind::usage,
                    fmt::format("{} speaks version {:g} of the benchmark protocol, this program version {}", program_,
                                *version, kBenchProtocol),
                    "compare with the newer of the two programs, or commits that are nearer to each other");
}

Arm::~Arm() {
    process_.thaw();
    process_.end();
}

void Arm::refuse(const std::string& request, const std::string& line) const {
    constexpr int kShown = 80;
    throw Error(ErrorKind::io,
                fmt::format("{} answered `{}` with something else than the protocol's JSON: {}", program_, request,
                            reporting::cut_to_width(reporting::visible(line), kShown)),
                "nothing but the worker's answers may reach its standard output");
}

Json Arm::answer_to(const std::string& request) {
    process_.thaw();
    std::optional<std::string> line;
    try {
        if (process_.write_line(request)) line = process_.read_line();
    } catch (const Error& silent) {
        throw ArmCrashed(silent.what());
    }
    if (!line) throw ArmCrashed(how_it_ended(process_));
    process_.freeze();
    Json answer = parse_object(*line);
    if (answer.is_null()) refuse(request, *line);
    return answer;
}

Json Arm::ask(const std::string& request) {
    Json answer = answer_to(request);
    if (answer.contains("error")) throw ArmCrashed(reporting::visible(text_of(answer, "error")));
    return answer;
}

results_db::Code Arm::describe() {
    return code_of(ask("describe"));
}

std::vector<std::string> Arm::list() {
    const Json answer = ask("list");
    const auto cases = answer.find("cases");
    if (cases == answer.end() || !cases->is_array()) refuse("list", answer.dump());
    std::vector<std::string> names;
    for (const Json& name : *cases) {
        if (!name.is_string()) refuse("list", answer.dump());
        names.push_back(name.get<std::string>());
    }
    return names;
}

PreparedArm Arm::prepare(const std::string& name, std::size_t place) {
    const std::string request = fmt::format("prepare {} {}", place, name);
    const Json answer = ask(request);
    PreparedArm prepared;
    prepared.unknown = answer.contains("unknown");
    prepared.wrong = reporting::visible(text_of(answer, "wrong"));
    prepared.backend = text_of(answer, "backend");
    prepared.flops = number_of(answer, "flops").value_or(0);
    prepared.bytes = number_of(answer, "bytes").value_or(0);
    prepared.hot = seconds_of(answer, "hot");
    prepared.cold = seconds_of(answer, "cold");
    if (!prepared.unknown && prepared.wrong.empty() && !prepared.hot) refuse(request, answer.dump());
    return prepared;
}

double Arm::run(kernels::CacheState state, long runs) {
    const std::string request = fmt::format("run {} {}", kernels::to_string(state), runs);
    const Json answer = ask(request);
    const std::optional<double> seconds = seconds_of(answer, "seconds");
    if (!seconds) refuse(request, answer.dump());
    return *seconds / static_cast<double>(runs);
}

std::vector<int> processors_for(int threads) {
    cpu_set_t set;
    std::vector<int> allowed;
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        for (int processor = 0; processor < CPU_SETSIZE; ++processor)
            if (CPU_ISSET(processor, &set)) allowed.push_back(processor);
    if (static_cast<int>(allowed.size()) < threads) return {};
    return {allowed.end() - threads, allowed.end()};
}

}  // namespace deft::sweeps
