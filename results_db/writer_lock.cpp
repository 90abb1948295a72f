#include "results_db/writer_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>

#include "base/error.h"
#include "base/stopwatch.h"
#include "results_db/open.h"

namespace deft::results_db {

namespace {

// The holder that a lock file names; fields that it lacks are empty.
struct Witness {
    std::string pid;
    LockHost host;
    std::string nonce, renewals;

    bool operator==(const Witness&) const = default;
};

// Opened for each look: a network file system may keep the content of an open file.
Witness read_witness(const std::filesystem::path& path) {
    std::ifstream in(path);
    Witness witness;
    std::getline(in, witness.pid);
    std::getline(in, witness.host.name);
    std::getline(in, witness.host.boot_id);
    in >> witness.nonce >> witness.renewals;
    const bool is_number = !witness.pid.empty() && witness.pid.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) witness.pid = "unknown";
    // The file may be anybody's, and the name is printed.
    constexpr std::size_t kLongest = 64;
    std::erase_if(witness.host.name, [](unsigned char c) { return c <= ' ' || c > '~'; });
    witness.host.name.resize(std::min(witness.host.name.size(), kLongest));
    return witness;
}

bool sleep_for(const LockOptions& options, double seconds) {
    if (options.sleep) return options.sleep(seconds);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return true;
}

Error another_machine(const Witness& witness, const std::filesystem::path& database) {
    return Error(
        ErrorKind::database,
        fmt::format("another deft run (pid {} on {}) is writing {}", witness.pid, witness.host.name, database.string()),
        "wait until it ends, or use another root folder", "the database");
}

}  // namespace

WriterLock::WriterLock(const std::filesystem::path& database, LockOptions options)
    : database_(database),
      path_(database.string() + ".lock"),
      options_(std::move(options)),
      nonce_(random_uid()),
      file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_.number() < 0)
        throw Error(ErrorKind::io, fmt::format("cannot open the lock file {}: {}", path_.string(), error_text(errno)),
                    fmt::format("make {} exist and be writable for this user, or choose another root folder",
                                database.parent_path().string()),
                    "the database");
    const int error = lock_file(file_, LOCK_EX | LOCK_NB);
    if (error == EWOULDBLOCK) {
        const Witness holder = read_witness(path_);
        if (!holder.host.name.empty() && holder.host.name != options_.host.name)
            throw another_machine(holder, database);
        throw Error(ErrorKind::database,
                    fmt::format("another deft run (pid {}) is writing {}", holder.pid, database.string()),
                    "wait until it ends, or use another root folder", "the database");
    }
    if (error != 0)
        throw Error(ErrorKind::io, fmt::format("cannot lock {}: {}", path_.string(), error_text(error)),
                    "choose a root folder on a file system with file locks", "the database");
    watch_other_machine();
    write_witness();
    // The driver watches signals in its own thread, and a test's child ends by them.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    renewer_ = std::thread([this] { renew(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WriterLock::~WriterLock() {
    {
        const std::lock_guard guard(mutex_);
        is_ending_ = true;
    }
    ending_.notify_all();
    renewer_.join();
    if (!is_lost_) (void)!::ftruncate(file_.number(), 0);
}

void WriterLock::require_held() const {
    if (!is_lost_) return;
    const Witness other = read_witness(path_);
    throw Error(
        ErrorKind::database,
        fmt::format("another deft run (pid {} on {}) took over {}", other.pid, other.host.name, database_.string()),
        "run deft on this root from one machine at a time", "what the other run writes");
}

void WriterLock::watch_other_machine() {
    const Witness first = read_witness(path_);
    if (first.host.name.empty() || first.host == options_.host) return;
    if (options_.on_watch) options_.on_watch(first.host.name, options_.watch_seconds);
    const Clock::time_point start = Clock::now();
    while (seconds_since(start) < options_.watch_seconds) {
        if (!sleep_for(options_, options_.look_seconds))
            throw Error(ErrorKind::database,
                        fmt::format("stopped while it was unknown whether {} still writes {}", first.host.name,
                                    database_.string()),
                        {}, "the database");
        const Witness now = read_witness(path_);
        if (now.nonce.empty()) return;  // the other machine's run has ended
        if (now != first) throw another_machine(now, database_);
    }
}

void WriterLock::write_witness() {
    const std::string text =
        fmt::format("{}\n{}\n{}\n{} {}\n", ::getpid(), options_.host.name, options_.host.boot_id, nonce_, renewals_++);
    // Never shorter than before while it is held: a look between the two calls would find no holder.
    if (::pwrite(file_.number(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
        (void)!::ftruncate(file_.number(), static_cast<off_t>(text.size()));
}

// Two machines that open at one moment both write; the last one stays.
void WriterLock::renew() {
    std::unique_lock guard(mutex_);
    const auto period = std::chrono::duration<double>(options_.renew_seconds);
    while (!ending_.wait_for(guard, period, [this] { return is_ending_; })) {
        const Witness now = read_witness(path_);
        if (!now.nonce.empty() && now.nonce != nonce_) {
            is_lost_ = true;
            return;
        }
        write_witness();
    }
}

bool has_writer(const std::filesystem::path& database) {
    struct stat file {};
    if (::stat((database.string() + ".lock").c_str(), &file) != 0) return false;
    // "1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF"
    const std::string inode = fmt::format(":{} ", file.st_ino);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);)
        if (line.find("FLOCK") != std::string::npos && line.find(inode) != std::string::npos &&
            line.find("->") == std::string::npos)
            return true;
    return false;
}

}  // namespace deft::results_db
