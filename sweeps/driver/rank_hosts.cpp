#include "sweeps/driver/rank_hosts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

#include "base/files.h"
#include "base/text.h"
#include "reporting/text.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNothingStarted = "nothing was started";
constexpr const char* kLineFormat = "write a line as in: node1 slots=4";
constexpr int kMostHostSlots = 65536;
constexpr std::string_view kBlanks = " \t\r\v\f";

// Unless --agent chooses otherwise: a password has no terminal to be typed at, and a host that is off would be awaited
// for minutes.
constexpr const char* kSshOptions =
    " -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10 -o ServerAliveCountMax=3";

[[noreturn]] void refuse_line(const Place& place, const std::string& what, const std::string& fix = kLineFormat) {
    throw Error(ErrorKind::config, place, what, fix, kNothingStarted);
}

bool is_host_sign(unsigned char sign) {
    return std::isalnum(sign) != 0 || sign == '.' || sign == '-' || sign == '_' || sign == ':';
}

// A name that begins with '-' would be an option of the agent.
void require_host_name(std::string_view name, const Place& place) {
    const bool is_name = std::ranges::all_of(name, is_host_sign) && std::isalnum(static_cast<unsigned char>(name[0]));
    const bool is_address =
        name[0] == ':' && std::ranges::count(name, ':') > 1 && std::ranges::all_of(name, is_host_sign);
    const bool has_port = std::ranges::count(name, ':') == 1;
    if ((is_name || is_address) && !has_port && name.size() <= 253) return;
    refuse_line(place, fmt::format("'{}' is not the name of a host", reporting::visible(name)),
                "write its name or address alone; a user or a port belongs into ~/.ssh/config or --agent");
}

std::optional<int> positive_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > kMostHostSlots) return {};
    return number;
}

// "slots=4", "max_slots=4". Blanks around the equals sign, which Open MPI allows, are gone.
void read_host_setting(std::string_view word, const Place& place, HostLine& host) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const bool is_slots = key == "slots", is_most = key == "max_slots" || key == "max-slots";
    if (!is_slots && !is_most) refuse_line(place, fmt::format("unknown word '{}'", reporting::visible(word)));
    const auto number = equals == std::string_view::npos ? std::nullopt : positive_number(word.substr(equals + 1));
    if (!number)
        refuse_line(place, fmt::format("{} of {} is not a number from 1 to {}", key, host.name, kMostHostSlots));
    if (is_slots && host.slots > 0) refuse_line(place, fmt::format("{} states its slots twice", host.name));
    if (is_slots) host.slots = *number;
}

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// With "slots = 4" as one word.
std::vector<std::string> words_of_line(std::string_view line) {
    std::string joined;
    for (const char sign : line.substr(0, line.find('#'))) {
        const bool is_blank = kBlanks.find(sign) != std::string_view::npos;
        if (is_blank && (joined.empty() || joined.back() == '=' || joined.back() == ' ')) continue;
        if (sign == '=' && !joined.empty() && joined.back() == ' ') joined.pop_back();
        joined += is_blank ? ' ' : sign;
    }
    std::vector<std::string> words;
    std::istringstream in(joined);
    for (std::string word; std::getline(in, word, ' ');) words.push_back(word);
    return words;
}

bool is_on_path(const std::string& program) {
    if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');)
        if (::access((fs::path(folder.empty() ? "." : folder) / program).c_str(), X_OK) == 0) return true;
    return false;
}

}  // namespace

std::vector<HostLine> parse_hostfile(std::string_view text, const std::string& file) {
    std::vector<HostLine> hosts;
    std::map<std::string, int> lines;  // of the hosts, whose names have no case
    int number = 0;
    for (std::size_t at = 0; at < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::vector<std::string> words = words_of_line(text.substr(at, end - at));
        at = end + 1;
        if (words.empty()) continue;
        const Place place{file, number + 1, 0};
        HostLine host{words.front(), 0, number + 1};
        require_host_name(host.name, place);
        for (std::size_t i = 1; i < words.size(); ++i) read_host_setting(words[i], place, host);
        const auto [other, is_new] = lines.emplace(lower_case(host.name), host.line);
        if (!is_new)
            refuse_line(place, fmt::format("{} is on line {} already", host.name, other->second),
                        "write each host once, with all its slots");
        hosts.push_back(std::move(host));
    }
    if (hosts.empty()) refuse_line({file, 0, 0}, "the hostfile names no host");
    return hosts;
}

std::vector<HostLine> hosts_for_ranks(const fs::path& hostfile, const SlotRequest& request) {
    const std::string file = reporting::visible(hostfile.string());
    std::error_code ignored;
    if (!fs::exists(hostfile, ignored))
        throw Error(ErrorKind::usage, fmt::format("hostfile {} does not exist", file), "check the path",
                    kNothingStarted);
    std::vector<HostLine> hosts = parse_hostfile(read_file(hostfile), file);
    const auto needed = static_cast<std::size_t>(request.nodes_of_trial());
    const int ranks = request.ranks_of_node();
    if (hosts.size() < needed)
        throw Error(ErrorKind::config, Place{file, 0, 0},
                    fmt::format("{} with {} on each need {}, and the hostfile has {}", counted(request.ranks, "rank"),
                                ranks, counted(needed, "host"), hosts.size()),
                    "add hosts, or use a larger --ranks-per-node", kNothingStarted);
    hosts.resize(needed);
    for (const HostLine& host : hosts)
        if (host.slots > 0 && host.slots < ranks)
            refuse_line({file, host.line, 0},
                        fmt::format("{} has {}, and a trial has {} there", host.name, counted(host.slots, "slot"),
                                    counted(ranks, "rank")),
                        "use a smaller --ranks-per-node, or state more slots");
    return hosts;
}

std::string agent_command(const std::string& text) {
    const std::string command = text.empty() ? "ssh" : text;
    const bool is_plain = std::ranges::all_of(command, [](unsigned char c) { return c >= ' ' && c < 0x7f; });
    // mpirun takes ':' for the start of another agent, and quotes for signs as any other.
    if (!is_plain || command.find_first_of(":\"'\\") != std::string::npos)
        throw Error(ErrorKind::usage,
                    fmt::format("mpirun does not take the agent '{}' as it is written", reporting::visible(command)),
                    "leave out quotes, colons and backslashes: put such options into ~/.ssh/config or a script",
                    kNothingStarted);
    std::istringstream words(command);
    std::string program;
    words >> program;
    if (program.empty())
        throw Error(ErrorKind::usage, "the agent is empty", "name a command, as in --agent \"ssh -p 22\"",
                    kNothingStarted);
    if (!is_on_path(program))
        throw Error(ErrorKind::missing, fmt::format("the agent {} is not on PATH", program),
                    "install it (Debian: openssh-client), or name another --agent", kNothingStarted);
    return fs::path(program).filename() == "ssh" ? command + kSshOptions : command;
}

void require_request_of_hosts(const SlotRequest& request) {
    if (request.ranks == 1)
        throw Error(ErrorKind::usage, "a hostfile is for trials of several ranks, and these have one",
                    "add --ranks, or leave the hostfile out", kNothingStarted);
    const bool is_one = request.where == SlotRequest::Where::cpu
                            ? request.count == 1
                            : request.per_gpu == 1 && (request.count == 0 || request.count == request.ranks);
    if (is_one) return;
    throw Error(ErrorKind::usage, fmt::format("one trial at a time runs on a hostfile, and slots are {}", request.text),
                fmt::format("use --slots cpu:1, or gpu for a card for each of the {} ranks", request.ranks),
                kNothingStarted);
}

std::string hostfile_text(const RankHosts& hosts) {
    std::string text;
    for (const std::string& name : hosts.names) text += fmt::format("{} slots={}\n", name, hosts.ranks_on_each);
    return text;
}

}  // namespace deft::sweeps
