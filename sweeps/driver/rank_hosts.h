#pragma once
// Hosts that the ranks of a trial span without a batch system: a hostfile of Open MPI, and the agent that reaches them.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sweeps/spec/slot_request.h"

namespace deft::sweeps {

// A trial's, in the order of its ranks.
struct RankHosts {
    std::vector<std::string> names;  // empty: all ranks are on this machine
    int ranks_on_each = 1;
    std::string agent;  // the command that starts a process on one, as mpirun splits it: at blanks

    bool empty() const { return names.empty(); }
};

// A line of a hostfile.
struct HostLine {
    std::string name;
    int slots = 0;  // 0: not stated
    int line = 0;
};

// `text`: lines of `host slots=N max_slots=N`, with comments from # on; `file`: its name, for errors. Errors: config,
// with the line, for another word, a name that no host can have, or a host that has a line already. config, too, for a
// file without hosts.
std::vector<HostLine> parse_hostfile(std::string_view text, const std::string& file);

// The first hosts of the file that hold the request's ranks. Errors: usage, where the file is absent; config, where it
// has too few hosts, or one of those too few slots, and those of parse_hostfile().
std::vector<HostLine> hosts_for_ranks(const std::filesystem::path& hostfile, const SlotRequest& request);

// The command for --agent and its key: ssh where it is empty. ssh never asks for a password, and gives up a host that
// does not answer. Errors: usage, for words that mpirun would not pass on as they are; missing, for a program that is
// not on PATH.
std::string agent_command(const std::string& text);

// Errors: usage, where a request of a hostfile has one rank, or asks for several trials at once.
void require_request_of_hosts(const SlotRequest& request);

// The hosts as mpirun reads them: a line each, with as many slots as ranks.
std::string hostfile_text(const RankHosts& hosts);

}  // namespace deft::sweeps
