#include "sweeps/driver/mpirun_log.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/text.h"

namespace deft::sweeps {

namespace {

// A message of one line. Its rank or host is the first group, and a reason the second one.
struct LineMessage {
    const char* pattern;
    const char* text;  // with {0} and {1} for these groups
};

constexpr std::string_view kHostMark = "<host>";
constexpr const char* kHostName = "([A-Za-z0-9._:-]+)";

constexpr std::array<LineMessage, 15> kLineMessages = {{
    {"ssh: connect to host <host> port [0-9]+: (Connection refused).*",
     "host {0}: {1}. Start sshd there, or name its port: --agent \"ssh -p PORT\""},
    {"ssh: connect to host <host> port [0-9]+: (.*)",
     "host {0}: {1}. See that it is up, and that this machine reaches it"},
    {"ssh: Could not resolve hostname <host>: (.*)",
     "host {0}: {1}. Correct its name in the hostfile, or add its address"},
    {"(?:[^@ ]+@)?<host>: (Permission denied.*)",
     "host {0}: {1}. ssh must need no password: ssh-copy-id {0}, or --agent \"ssh -i KEY\""},
    {"No [A-Z0-9]+ host key is known for <host> and .*",
     "host {0}: its key is not known here. Accept it once: ssh {0} true"},
    {"(?:Offending|.*REMOTE HOST IDENTIFICATION HAS CHANGED).*",
     "a host has another key than before. Remove the old one, where that is right: ssh-keygen -R HOST"},
    {"Host key verification failed\\..*", "a host's key is not known here. Accept it once: ssh HOST true"},
    {"Connection to <host> (closed by remote host\\.|timed out).*",
     "host {0} was lost. See that it is up; the next attempt resumes from the last checkpoint"},
    {"Timeout, server <host> not responding\\..*",
     "host {0} was lost: it did not answer. See its network; the next attempt resumes from the last checkpoint"},
    {"Connection (?:closed|reset|timed out) by <host> port [0-9]+.*",
     "host {0} closed the connection. See the log of its sshd"},
    {"  Remote daemon: \\S+ on node <host>.*",
     "host {0} was lost: mpirun has no connection to it any more. See that it is up, and its network; the next attempt "
     "resumes from the last checkpoint"},
    {"(?:.*: )?orted: (?:command )?not found.*",
     "a host has no orted. Install the same Open MPI on each host, with its programs on PATH without a login"},
    {".*process rank ([0-9]+) with PID [0-9]+ on node (\\S+) exited on signal ([0-9]+)( \\([^)]*\\))?.*",
     "rank {0} on {1} was ended by signal {2}{3}"},
    {"A (?:ORTE )?daemon on (?:node|host) <host> failed to start.*",
     "host {0}: orted did not start. Install the same Open MPI on each host, with its programs on PATH without a "
     "login"},
    {"There are not enough slots available in the system.*",
     "mpirun sees fewer slots than ranks. Leave out variables of Open MPI that choose hosts or slots"},
}};

struct CompiledMessage {
    std::regex pattern;
    const char* text;
};

const std::vector<CompiledMessage>& compiled_messages() {
    static const std::vector<CompiledMessage> compiled = [] {
        std::vector<CompiledMessage> all;
        for (const LineMessage& message : kLineMessages) {
            std::string pattern = message.pattern;
            const std::size_t at = pattern.find(kHostMark);
            if (at != std::string::npos) pattern.replace(at, kHostMark.size(), kHostName);
            all.push_back({std::regex(pattern), message.text});
        }
        return all;
    }();
    return compiled;
}

std::string group_of(const std::smatch& match, std::size_t group) {
    return group < match.size() ? reporting::visible(match[group].str()) : "";
}

// The parts of a message of several lines that have been read.
struct Paragraph {
    std::string program, folder, node, rank;
};

// Nothing until the message is whole.
std::optional<std::string> said_by(const Paragraph& part, const std::string& line) {
    if (!part.program.empty() && !part.node.empty())
        return fmt::format("host {} cannot execute {}. The program must be at the same path on each host", part.node,
                           part.program);
    if (!part.folder.empty() && !part.node.empty())
        return fmt::format("host {} has no folder {}. It must be at the same path on each host", part.node,
                           part.folder);
    static const std::regex exit_code("  Exit code: +([0-9]+)");
    std::smatch match;
    if (!part.rank.empty() && std::regex_match(line, match, exit_code))
        return fmt::format("rank {} exited with {}, and its journal does not say why", part.rank, match[1].str());
    return std::nullopt;
}

void read_part(const std::string& line, Paragraph& part) {
    static const std::regex name("(Executable|Working directory|Node): +(.*)"),
        rank("  Process name: \\[\\[[0-9]+,[0-9]+\\],([0-9]+)\\]");
    std::smatch match;
    if (std::regex_match(line, match, rank)) part.rank = match[1].str();
    if (!std::regex_match(line, match, name)) return;
    std::string& field = match[1] == "Executable" ? part.program : match[1] == "Node" ? part.node : part.folder;
    field = reporting::visible(match[2].str());
}

}  // namespace

std::string failure_in_mpirun_log(std::istream& log) {
    Paragraph part;
    for (std::string line; std::getline(log, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();  // as ssh ends its lines
        if (line.size() > 4096) continue;  // a regular expression of the library calls itself for each sign
        if (line.starts_with("-----")) part = {};
        read_part(line, part);
        if (auto said = said_by(part, line)) return *said;
        for (const auto& [pattern, text] : compiled_messages())
            if (std::smatch match; std::regex_match(line, match, pattern))
                return fmt::format(fmt::runtime(text), group_of(match, 1), group_of(match, 2), group_of(match, 3),
                                   group_of(match, 4));
    }
    return "";
}

std::string failure_in_mpirun_log(const std::filesystem::path& log) {
    std::ifstream in(log);
    return failure_in_mpirun_log(in);
}

std::string rank_named_in(const std::filesystem::path& log) {
    static const std::regex said("process rank ([0-9]+) with PID");
    std::string rank = "a rank";
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);)
        if (std::smatch match; std::regex_search(line, match, said)) rank = "rank " + match[1].str();
    return rank;
}

}  // namespace deft::sweeps
