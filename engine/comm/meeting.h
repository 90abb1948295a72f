#pragma once
// Where the ranks of a launcher other than mpirun meet, by the variables that it gave to this process.

#include <chrono>
#include <cstdint>
#include <string>

namespace deft::engine {

// The note about unchanged state in errors of ranks that do not meet.
inline constexpr const char* kNothingStarted = "nothing was started";

struct Meeting {
    int rank = 0, ranks = 1;
    std::string host;  // of rank 0
    std::uint16_t port = 0;
    std::string token;  // of the job, the same on all ranks; or empty
    std::chrono::milliseconds patience = std::chrono::seconds(60);
};

// Reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them, else what srun sets; DEFT_PORT replaces
// either's port. One rank where this process is alone. Errors: config.
Meeting meeting_of_launcher();

// "node01", of Slurm's "node[01-04,07],other".
std::string first_of_node_list(const std::string& list);

}  // namespace deft::engine
