#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/spawn_plan.h"

namespace deft {

ProcessOutput run_process(const std::vector<std::string>& argv) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw Error(ErrorKind::io, fmt::format("cannot make a pipe: {}", error_text(errno)));
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    SpawnPlan plan;
    plan.duplicate(writing.number(), STDOUT_FILENO);
    plan.open(STDERR_FILENO, "/dev/null");
    const pid_t pid = plan.spawn(argv);
    writing.close();

    ProcessOutput output;
    std::array<char, 1 << 14> buffer{};
    for (;;) {
        const ssize_t count = ::read(reading.number(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        output.out.append(buffer.data(), static_cast<std::size_t>(count));
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) throw Error(ErrorKind::io, fmt::format("lost {}: {}", argv[0], error_text(errno)));
    output.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return output;
}

pid_t start_process(const std::vector<std::string>& argv, const std::filesystem::path& log,
                    const std::vector<std::string>& environment, std::span<const int> blocked) {
    const Descriptor file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (file.number() < 0)
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", log.string(), error_text(errno)));
    SpawnPlan plan;
    plan.duplicate(file.number(), STDOUT_FILENO);
    plan.duplicate(file.number(), STDERR_FILENO);
    plan.own_group();
    plan.block(blocked);
    return plan.spawn(argv, environment);
}

}  // namespace deft
