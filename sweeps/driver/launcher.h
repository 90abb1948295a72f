#pragma once
// Where attempts run: on this machine, as steps of a Slurm allocation, or as Slurm jobs. Run folders and journals are
// the contract with an attempt wherever it runs; a launcher starts it, looks whether it runs, and ends it.

#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results_db/writer.h"

namespace deft::sweeps {

// unknown: who could say does not answer. Only an attempt that this process has cancelled ends for that.
enum class RunPhase { waiting, running, ended, unknown };

// An attempt to start: `deft trial FOLDER` in a share of a machine.
struct LaunchRequest {
    std::filesystem::path folder;  // absolute; its log.txt takes the attempt's output
    std::vector<std::string> argv;
    std::vector<std::string> environment;  // "NAME=value"
    int cores = 1;                         // of all its ranks
    int gpus = 0;                          // of all its ranks
    double grace_seconds = 0;              // that it may take to save a checkpoint
    int nodes = 1;                         // several: the launcher starts its ranks there, as many on each
    int ranks = 1;                         // that the launcher starts; an attempt on one node starts its own
    double projected_seconds = 0;          // of its work; 0: unknown
};

using RunId = std::int64_t;  // of a started attempt, while its launcher lives

// The reason that a batch system gives for an attempt's end; none: the attempt ended by itself. unbegun: the job ended
// before this one of its attempts began. closed: the job that this process is in is ending, and takes no other attempt.
// forgotten: the batch system no longer knows the job, begun or not, as after a crash of its controller. loss: nothing
// but the end of the job is known.
enum class BatchEnd {
    none,
    node_failure,
    out_of_memory,
    time_limit,
    preemption,
    cancellation,
    refusal,
    loss,
    unbegun,
    closed,
    forgotten
};

struct RunStatus {
    RunPhase phase = RunPhase::unknown;
    std::string reason;                   // why it waits or is unknown; may be empty
    std::string host;                     // where it runs; empty: not known yet
    int wait_status = 0;                  // of an ended one, as waitpid() gives it
    std::optional<struct rusage> usage;   // of an ended one, where this machine ran it
    BatchEnd batch_end = BatchEnd::none;  // of an ended one
    std::string batch_words;              // the line that says so
};

class Launcher {
 public:
    virtual ~Launcher() = default;

    // Errors: io, where the program cannot be started.
    virtual RunId start(const LaunchRequest& request) = 0;
    // Submits what the launcher has gathered: no further attempt starts before one ends. A launcher may wait for a
    // later call, unless the driver leaves.
    virtual void submit(bool /*leaves*/) {}
    // Takes over an attempt that an earlier driver started. Nothing where no trace of it is left here.
    virtual std::optional<RunId> adopt(const std::filesystem::path&) { return std::nullopt; }
    // All attempts that were started and not yet reported as ended. An ended one takes along whatever it had started
    // itself, and is reported once.
    virtual std::vector<std::pair<RunId, RunStatus>> look() = 0;
    // Asks the attempt to save a checkpoint and end.
    virtual void ask_to_end(RunId run) = 0;
    // Ends it at once.
    virtual void end(RunId run) = 0;

    // "local", "steps", "slurm"
    virtual const char* name() const = 0;
    // The command that starts the attempt on this machine.
    virtual std::vector<std::string> command(const LaunchRequest& request) const = 0;
    // Whether an attempt is a child of this process, which ends with it.
    virtual bool starts_children() const = 0;
    // Whether an attempt goes on without this process, for a later driver to adopt.
    virtual bool outlives_driver() const { return false; }
    // The process of this machine that ends with the attempt, by which a later driver finds it.
    virtual results_db::ProcessIdentity process_of(RunId run) const = 0;
};

}  // namespace deft::sweeps
