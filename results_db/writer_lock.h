#pragma once
// One writer a database: a lock on a file beside it, and in that file a witness for machines where the lock does not
// hold.

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "base/this_machine.h"

namespace deft::results_db {

// The machine that holds a lock. Containers of one machine differ by name, machines with equal names by boot.
struct LockHost {
    std::string name, boot_id;

    bool operator==(const LockHost&) const = default;
};

struct LockOptions {
    double renew_seconds = 10;  // between two renewals of the witness
    double watch_seconds = 60;  // for which the witness of another machine is watched
    double look_seconds = 1;    // between two looks at it
    LockHost host = {host_name(), boot_id()};
    // Called before the watch, with the machine's name and the seconds that it takes.
    std::function<void(const std::string& machine, double seconds)> on_watch = {};
    // Sleeps between two looks. It returns false where nobody waits any more.
    std::function<bool(double seconds)> sleep = {};
};

// Whoever gets the lock while another machine's witness is in the file watches whether it is renewed, since some shared
// file systems (sshfs, NFS without a lock service) grant it on each machine.
class WriterLock {
 public:
    // Takes <database>.lock. Errors: database (held by another process, with its pid, or by another machine, with its
    // name), io.
    explicit WriterLock(const std::filesystem::path& database, LockOptions options = {});
    // The file stays: removing it would let two processes lock two files of one name.
    ~WriterLock();
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

    // Errors: database, where another machine's writer has replaced the witness since.
    void require_held() const;

 private:
    void watch_other_machine();
    void write_witness();
    void renew();

    std::filesystem::path database_, path_;
    LockOptions options_;
    std::string nonce_;
    long renewals_ = 0;
    Descriptor file_;
    std::atomic<bool> is_lost_ = false;
    std::mutex mutex_;
    std::condition_variable ending_;
    bool is_ending_ = false;
    std::thread renewer_;
};

// Whether a process of this machine holds the writer's lock of that database. Takes no lock itself, which would refuse
// a writer that starts meanwhile.
bool has_writer(const std::filesystem::path& database);

}  // namespace deft::results_db
