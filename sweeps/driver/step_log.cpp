#include "sweeps/driver/step_log.h"

#include <array>
#include <string_view>
#include <vector>

#include "sweeps/driver/run_folder.h"

namespace deft::sweeps {

namespace {

constexpr std::size_t kLines = 200;  // at the end of the log that are read

struct Words {
    std::string_view part;
    BatchEnd end;
};
// Slurm 21 to 24. A step that is cancelled for a reason names it on the same line, so the plain word comes last.
// A step that never began, as its node did not answer, has the words of its launch.
constexpr std::array<Words, 9> kWords = {{{"Node failure on", BatchEnd::node_failure},
                                          {"Communication connection failure", BatchEnd::node_failure},
                                          {"DUE TO NODE FAILURE", BatchEnd::node_failure},
                                          {"oom_kill event", BatchEnd::out_of_memory},
                                          {"oom-kill event", BatchEnd::out_of_memory},
                                          {"Out Of Memory", BatchEnd::out_of_memory},
                                          {"DUE TO TIME LIMIT", BatchEnd::time_limit},
                                          {"DUE TO PREEMPTION", BatchEnd::preemption},
                                          {" CANCELLED AT ", BatchEnd::cancellation}}};

}  // namespace

StepWords step_words(const std::filesystem::path& log) {
    const std::vector<std::string> lines = last_lines(log, kLines);
    for (const Words& words : kWords)
        for (const std::string& line : lines)
            if ((line.starts_with("srun: ") || line.starts_with("slurmstepd")) &&
                line.find(words.part) != std::string::npos)
                return {words.end, line};
    return {};
}

}  // namespace deft::sweeps
