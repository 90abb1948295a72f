#include "sweeps/driver/step_log.h"

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>
#include <vector>

#include "sweeps/driver/run_folder.h"

namespace deft::sweeps {

namespace {

constexpr std::size_t kLines = 200;        // at the end of the log that are read
constexpr std::size_t kMostOfLine = 4096;  // of srun's own

struct Words {
    std::string_view part;
    BatchEnd end;
    std::string_view also = {};  // on the same line
};
// Slurm 21 to 24. A step that is cancelled for a reason names it on the same line, so the plain word comes last.
// A step that never began, as its node did not answer, has the words of its launch.
// srun that has no step yet says that its job is ending; the same words at a step that runs mean less.
constexpr std::array<Words, 16> kWords = {
    {{"Node failure on", BatchEnd::node_failure},
     {"Communication connection failure", BatchEnd::node_failure},
     {"DUE TO NODE FAILURE", BatchEnd::node_failure},
     {"oom_kill event", BatchEnd::out_of_memory},
     {"oom-kill event", BatchEnd::out_of_memory},
     {"Out Of Memory", BatchEnd::out_of_memory},
     {"DUE TO TIME LIMIT", BatchEnd::time_limit},
     {"DUE TO PREEMPTION", BatchEnd::preemption},
     {"DUE TO JOB REQUEUE", BatchEnd::preemption},
     {"Unable to create step", BatchEnd::closed, "already completing or completed"},
     {"Unable to create step", BatchEnd::closed, "Invalid job id specified"},
     {"Unable to create step", BatchEnd::closed, "Job is pending execution"},
     {"Unable to confirm allocation", BatchEnd::closed, "Invalid job id specified"},
     {"Unable to confirm allocation", BatchEnd::closed, "Job is pending execution"},
     {" job ", BatchEnd::closed, " has expired"},
     {" CANCELLED AT ", BatchEnd::cancellation}}};
constexpr std::string_view kAborted = "srun: Job step aborted: Waiting up to ";

// Whether srun says how a task of the step ended by itself. It ends the others by these signals.
bool names_failed_task(const std::string& line) {
    static const std::regex ended("srun: error: [^ :]+: tasks? [0-9,-]+: (.*)");
    std::smatch match;
    if (line.size() > kMostOfLine) return false;  // a regular expression of the library calls itself for each sign
    return std::regex_match(line, match, ended) && match[1] != "Killed" && match[1] != "Terminated";
}

}  // namespace

StepWords step_words(const std::filesystem::path& log) {
    const std::vector<std::string> lines = last_lines(log, kLines);
    for (const Words& words : kWords)
        for (const std::string& line : lines)
            if ((line.starts_with("srun: ") || line.starts_with("slurmstepd")) &&
                line.find(words.part) != std::string::npos && line.find(words.also) != std::string::npos)
                return {words.end, line};
    if (std::ranges::any_of(lines, names_failed_task)) return {};
    for (const std::string& line : lines)
        if (line.starts_with(kAborted)) return {BatchEnd::forgotten, line};
    return {};
}

}  // namespace deft::sweeps
