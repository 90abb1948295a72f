#include "sweeps/gate/revision_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "reporting/text.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/signals.h"
#include "sweeps/driver/trial_process.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

std::string line_of(const ProcessOutput& output) {
    return output.out.substr(0, output.out.find('\n'));
}

// Indented below a message, fit for a terminal.
std::string last_lines(const std::string& text, std::size_t most) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back("\n    " + reporting::visible(line));
    const std::size_t first = lines.size() > most ? lines.size() - most : 0;
    return fmt::format("{}", fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(), ""));
}

std::string last_words(const fs::path& log) {
    constexpr std::size_t kShownLines = 15;
    return last_lines(read_file(log), kShownLines);
}

std::string without(std::string text, const std::string& part) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.erase(at, part.size());
    return text;
}

// The first line with an error; without one, the last that is not blank. Paths as in the source.
std::string reason_in(const fs::path& log, const fs::path& source) {
    constexpr int kWidth = 300;
    std::string reason = "it said nothing";
    std::istringstream in(read_file(log));
    for (std::string line; std::getline(in, line);) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        reason = reporting::cut_to_width(reporting::visible(without(line, source.string() + "/")), kWidth);
        for (const char* word : {"error:", "Error:", "ERROR:", "CMake Error"})
            if (line.find(word) != std::string::npos) return reason;
    }
    return reason;
}

// Runs one step of a build, whatever it says into the log. False where it fails.
bool run_step(const std::vector<std::string>& argv, const fs::path& log, const std::string& hash) {
    constexpr int kGraceMs = 2000, kPollMs = 200;
    const SignalWatch signals;
    const pid_t pid = start_process(argv, log);
    const results_db::ProcessIdentity process = identify(pid);
    int status = 0;
    while (::waitpid(pid, &status, WNOHANG) == 0) {
        if (signals.interrupts() > 0 || signals.terminated()) {
            end_group(process, kGraceMs);
            ::waitpid(pid, &status, 0);
            throw Error(ErrorKind::io, "interrupted while building " + hash, "the same command resumes");
        }
        signals.sleep_ms(kPollMs);
    }
    if (WIFSIGNALED(status))  // the commit may be sound
        throw Error(ErrorKind::io,
                    fmt::format("signal {} ended {} while building {}", WTERMSIG(status), argv.front(), hash),
                    "the same command resumes");
    return WEXITSTATUS(status) == 0;
}

// Checks the commit out in a folder of its own, using the objects of the user's repository. It is not a worktree, which
// would stay registered in that repository. False where it fails.
bool check_out(const fs::path& checkout, const fs::path& source, const std::string& hash, const fs::path& log) {
    const ProcessOutput common =
        run_process(git_command(checkout, {"rev-parse", "--path-format=absolute", "--git-common-dir"}));
    if (common.exit_code != 0) return false;
    const fs::path theirs = line_of(common), ours = source / ".git";
    if (!run_step({"git", "init", "--quiet", source.string()}, log, hash)) return false;
    write_file_atomically(ours / "objects" / "info" / "alternates", (theirs / "objects").string() + "\n");
    if (fs::exists(theirs / "shallow")) fs::copy_file(theirs / "shallow", ours / "shallow");
    return run_step(git_command(source, {"checkout", "--quiet", "--detach", hash}), log, hash);
}

}  // namespace

BuildFailed::BuildFailed(const std::string& hash, const fs::path& source, const fs::path& log)
    : Error(ErrorKind::io, fmt::format("{} does not build:{}", hash, last_words(log)),
            fmt::format("see {}; compare with a commit that builds here", log.string())),
      reason_(reason_in(log, source)) {}

fs::path build_cache() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache == '/') return fs::path(cache) / "deft" / "builds";
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home != '/')
        throw Error(ErrorKind::usage, "no folder to build revisions in", "set XDG_CACHE_HOME or HOME");
    return fs::path(home) / ".cache" / "deft" / "builds";
}

fs::path checkout_of(const fs::path& folder) {
    const ProcessOutput top = run_process(git_command(folder, {"rev-parse", "--show-toplevel"}));
    if (top.exit_code != 0 || line_of(top).empty())
        throw Error(ErrorKind::usage, fmt::format("{} is in no git checkout", fs::absolute(folder).string()),
                    "run this in a checkout of deft, or name one with --checkout");
    return line_of(top);
}

std::string resolve_revision(const fs::path& checkout, const std::string& revision) {
    const ProcessOutput hash = run_process(
        git_command(checkout, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"}));
    if (hash.exit_code != 0)
        throw Error(ErrorKind::usage,
                    fmt::format("{} names no commit in {}", reporting::visible(revision), checkout.string()),
                    "name a branch, a tag or a hash; a shallow clone lacks old commits: git fetch --unshallow");
    return line_of(hash);
}

bool has_changes(const fs::path& checkout) {
    return run_process(git_command(checkout, {"diff", "--quiet", "--no-ext-diff", "--no-textconv", "HEAD"}))
               .exit_code == 1;
}

fs::path build_revision(const fs::path& checkout, const std::string& hash, const fs::path& cache,
                        const std::function<void(const std::string&)>& narrate) {
    const fs::path folder = cache / hash, source = folder / "source", build = folder / "build", log = folder / "log";
    const fs::path program = build / "deft", done = folder / "done", checked_out = folder / "checked_out";
    make_folder(folder);
    const Descriptor lock(::open((folder / "lock").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (lock.number() < 0 || ::flock(lock.number(), LOCK_EX) != 0)
        throw Error(ErrorKind::io, fmt::format("cannot lock {}", folder.string()), "is the folder writable?");
    if (fs::exists(done) && fs::exists(program)) return program;
    narrate(fmt::format("building {}; this is done once", hash));
    fs::remove(log);
    if (!fs::exists(checked_out)) {
        fs::remove_all(source);  // half of it, where a checkout was interrupted
        if (!check_out(checkout, source, hash, log))
            throw Error(ErrorKind::io, fmt::format("{} cannot be checked out:{}", hash, last_words(log)),
                        fmt::format("see {}; is there space?", log.string()));
        write_file_atomically(checked_out, "");
    }
    const bool built = run_step({"cmake", "-S", source.string(), "-B", build.string(), "-G", "Ninja",
                                 "-DCMAKE_BUILD_TYPE=Release", "-DDEFT_UNITY=ON", "-DDEFT_TESTS=OFF"},
                                log, hash) &&
                       run_step({"cmake", "--build", build.string(), "--target", "deft"}, log, hash);
    if (!built || !fs::exists(program)) throw BuildFailed(hash, source, log);
    write_file_atomically(done, "");
    return program;
}

}  // namespace deft::sweeps
