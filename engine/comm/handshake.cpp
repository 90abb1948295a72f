#include "engine/comm/handshake.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "engine/comm/visitors.h"

namespace deft::engine {

namespace {

// The answer of rank 0: the places of all ranks follow, or the text of a refusal.
struct Reply {
    std::uint64_t magic = Hello::kMagic;
    std::uint32_t is_welcome = 0;
    std::uint32_t kind = 0;  // an ErrorKind, of a refusal
    std::uint64_t bytes = 0;
};
constexpr std::size_t kMostRefusalBytes = 4096;

struct Refusal {
    ErrorKind kind = ErrorKind::config;
    std::string what, fix;
};

template <class Value>
std::span<const std::byte> bytes_of(const Value& value) {
    return std::as_bytes(std::span(&value, 1));
}

template <class Value>
std::span<std::byte> writable_bytes_of(Value& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

std::array<char, 64> hash_of(const std::string& token) {
    std::array<char, 64> hash{};
    const std::string text = sha256(token);
    std::copy_n(text.begin(), std::min(text.size(), hash.size()), hash.begin());
    return hash;
}

std::string text_of(const Meeting& meeting) {
    return fmt::format("{}:{}", meeting.host, meeting.port);
}

std::string seconds_text(const Meeting& meeting) {
    return fmt::format("{:g} s", std::chrono::duration<double>(meeting.patience).count());
}

// An answer is short beside what the kernel keeps, so nobody waits for who reads it.
void refuse(const Descriptor& socket, const Refusal& refusal) {
    std::string text = refusal.what + "\n" + refusal.fix;
    text.resize(std::min(text.size(), kMostRefusalBytes));
    const Reply reply{.is_welcome = 0, .kind = static_cast<std::uint32_t>(refusal.kind), .bytes = text.size()};
    if (tcp::write_whole(socket, bytes_of(reply), Clock::now()))
        tcp::write_whole(socket, std::as_bytes(std::span(text)), Clock::now());
}

// The ranks that rank 0 has met so far.
struct Guests {
    std::vector<Descriptor> sockets;  // (ranks)
    std::vector<DoorAddress> places;  // (ranks)
    std::vector<std::string> turned_away;
};

std::optional<Refusal> refusal_of(const Meeting& meeting, const Guests& guests, const Hello& hello) {
    if (hello.token != hash_of(meeting.token))
        return Refusal{ErrorKind::config, fmt::format("at {} ranks of another job meet", text_of(meeting)),
                       "set MASTER_PORT, or DEFT_PORT, to a port that no other job uses"};
    if (hello.ranks != meeting.ranks)
        return Refusal{ErrorKind::config,
                       fmt::format("rank {} was started as one of {} ranks, and rank 0 as one of {}", hello.rank,
                                   hello.ranks, meeting.ranks),
                       "start all ranks with the same WORLD_SIZE"};
    if (hello.rank < 0 || hello.rank >= meeting.ranks)
        return Refusal{ErrorKind::config, fmt::format("rank {} is none of {}", hello.rank, meeting.ranks),
                       "ranks count from 0 to one less than there are"};
    const bool is_there = hello.rank == 0 || guests.sockets[static_cast<std::size_t>(hello.rank)].number() >= 0;
    if (is_there)
        return Refusal{ErrorKind::config, fmt::format("rank {} of {} was started twice", hello.rank, meeting.ranks),
                       "give each process a RANK of its own"};
    return {};
}

Refusal not_all_came(const Meeting& meeting, const Guests& guests) {
    std::vector<int> missing;
    for (int rank = 1; rank < meeting.ranks; ++rank)
        if (guests.sockets[static_cast<std::size_t>(rank)].number() < 0) missing.push_back(rank);
    std::string what = fmt::format("of {} ranks {} did not come to {} within {}", meeting.ranks,
                                   fmt::join(missing, ", "), text_of(meeting), seconds_text(meeting));
    for (const std::string& other : guests.turned_away) what += "; turned away: " + other;
    return {ErrorKind::io, what,
            "see what their logs say, and that they can reach that address; start all ranks at once"};
}

// Rank 0 waits for the others, and sends them each other's addresses.
std::vector<DoorAddress> hold(const Meeting& meeting, const Door& own) {
    const Descriptor listener = tcp::listen_at(meeting.host, meeting.port);
    const Clock::time_point deadline = Clock::now() + meeting.patience;
    const auto ranks = static_cast<std::size_t>(meeting.ranks);
    Guests guests{std::vector<Descriptor>(ranks), std::vector<DoorAddress>(ranks), {}};
    guests.places[0] = {{}, own.port(), 0, own.key()};
    Visitors visitors(listener, meeting.ranks);
    for (int missing = meeting.ranks - 1; missing > 0;) {
        std::optional<Visitor> visitor = visitors.next(deadline);
        if (!visitor) {
            const Refusal refusal = not_all_came(meeting, guests);
            for (const Descriptor& socket : guests.sockets)
                if (socket.number() >= 0) refuse(socket, refusal);
            throw Error(refusal.kind, refusal.what, refusal.fix, kNothingStarted);
        }
        const Hello& hello = visitor->hello;
        if (const std::optional<Refusal> refusal = refusal_of(meeting, guests, hello)) {
            refuse(visitor->socket, *refusal);
            if (guests.turned_away.size() < 8) guests.turned_away.push_back(refusal->what);
            continue;
        }
        const auto rank = static_cast<std::size_t>(hello.rank);
        guests.places[rank] = {tcp::peer_of(visitor->socket), hello.door_port, hello.rank, hello.door_key};
        guests.sockets[rank] = std::move(visitor->socket);
        --missing;
    }
    const auto places = std::as_bytes(std::span(guests.places));
    const Reply welcome{.is_welcome = 1, .bytes = places.size()};
    for (const Descriptor& socket : guests.sockets)
        if (socket.number() >= 0 && tcp::write_whole(socket, bytes_of(welcome), deadline))
            tcp::write_whole(socket, places, deadline);
    return guests.places;
}

// Rank 0 may start later than others, so they try again until it listens.
Descriptor reach_first(const Meeting& meeting, Clock::time_point deadline) {
    std::string problem;
    for (std::chrono::milliseconds pause(20);; pause = std::min(2 * pause, std::chrono::milliseconds(500))) {
        for (const tcp::Host& host : tcp::hosts_named(meeting.host, problem)) {
            const Clock::time_point soon = std::min(deadline, Clock::now() + std::chrono::seconds(10));
            if (Descriptor socket = tcp::connect_to(host, meeting.port, soon, problem); socket.number() >= 0)
                return socket;
        }
        if (Clock::now() + pause > deadline)
            throw Error(
                ErrorKind::io,
                fmt::format("rank {} found no rank 0 at {} within {}: {}", meeting.rank, text_of(meeting),
                            seconds_text(meeting), problem),
                "see that rank 0 was started, on the machine that MASTER_ADDR names, and that nothing keeps others "
                "from its MASTER_PORT",
                kNothingStarted);
        std::this_thread::sleep_for(pause);
    }
}

[[noreturn]] void fail_as_refused(const Meeting& meeting, const Descriptor& socket, const Reply& reply,
                                  Clock::time_point deadline) {
    std::string text(std::min<std::uint64_t>(reply.bytes, kMostRefusalBytes), '\0');
    tcp::read_whole(socket, std::as_writable_bytes(std::span(text)), deadline);
    const std::size_t cut = std::min(text.find('\n'), text.size());
    const ErrorKind kind = reply.kind == static_cast<std::uint32_t>(ErrorKind::io) ? ErrorKind::io : ErrorKind::config;
    throw Error(kind, fmt::format("rank 0 at {} says: {}", text_of(meeting), text.substr(0, cut)),
                text.substr(std::min(cut + 1, text.size())), kNothingStarted);
}

// Nothing where rank 0 was ending when it was met.
std::optional<std::vector<DoorAddress>> ask_first(const Meeting& meeting, const Door& own, const Descriptor& socket) {
    // From here on it is rank 0 that counts the time, which it may have begun to do only now.
    const Clock::time_point deadline = Clock::now() + meeting.patience + std::chrono::seconds(5);
    const Hello hello{.rank = meeting.rank,
                      .ranks = meeting.ranks,
                      .door_port = own.port(),
                      .door_key = own.key(),
                      .token = hash_of(meeting.token)};
    Reply reply;
    if (!tcp::write_whole(socket, bytes_of(hello), deadline)) return {};
    if (!tcp::read_whole(socket, writable_bytes_of(reply), deadline)) {
        if (Clock::now() < deadline) return {};
        throw Error(ErrorKind::io,
                    fmt::format("what listens at {} did not answer rank {} within {}", text_of(meeting), meeting.rank,
                                seconds_text(meeting)),
                    "see whether it is rank 0, or set MASTER_PORT, or DEFT_PORT, to a free port", kNothingStarted);
    }
    std::vector<DoorAddress> places(static_cast<std::size_t>(meeting.ranks));
    const auto bytes = std::as_writable_bytes(std::span(places));
    const bool is_known = reply.magic == Hello::kMagic;
    if (is_known && reply.is_welcome == 0) fail_as_refused(meeting, socket, reply, deadline);
    if (!is_known || reply.bytes != bytes.size())
        throw Error(
            ErrorKind::config, fmt::format("the process at {} is not rank 0 of deft", text_of(meeting)),
            "set MASTER_PORT, or DEFT_PORT, to a free port, the same on all ranks, and start the same deft on each",
            kNothingStarted);
    if (!tcp::read_whole(socket, bytes, deadline)) return {};
    for (DoorAddress& place : places) place = seen_from(tcp::peer_of(socket), place);
    return places;
}

std::vector<DoorAddress> join(const Meeting& meeting, const Door& own) {
    const Clock::time_point deadline = Clock::now() + meeting.patience;
    for (;;) {
        const Descriptor socket = reach_first(meeting, deadline);
        if (std::optional<std::vector<DoorAddress>> places = ask_first(meeting, own, socket)) return *places;
        if (Clock::now() > deadline)
            throw Error(ErrorKind::io,
                        fmt::format("what listens at {} closed the connection of rank {} without a word",
                                    text_of(meeting), meeting.rank),
                        "see whether it is rank 0, and what its log says", kNothingStarted);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
}

}  // namespace

Door::Door(const std::string& host) : listener_(tcp::listen_at(host, 0)) {
    while (::getrandom(&key_, sizeof key_, 0) != static_cast<ssize_t>(sizeof key_)) {
    }
}

DoorAddress seen_from(const tcp::Host& first, DoorAddress door) {
    if (door.rank == 0 || tcp::is_loopback(door.host)) door.host = first;
    return door;
}

std::vector<DoorAddress> meet(const Meeting& meeting, const Door& own) {
    return meeting.rank == 0 ? hold(meeting, own) : join(meeting, own);
}

// Each rank connects to lower ranks, and higher ranks connect to it. A connection exists as soon as the other
// rank listens, so nobody waits for anybody in turn.
std::vector<std::vector<Descriptor>> connect_pairs(int rank, std::span<const DoorAddress> places, const Door& own,
                                                   int channels, Clock::time_point deadline) {
    const int ranks = static_cast<int>(places.size());
    std::vector<std::vector<Descriptor>> sockets(static_cast<std::size_t>(channels));
    for (auto& of_channel : sockets) of_channel.resize(places.size());
    for (const DoorAddress& place : places.first(static_cast<std::size_t>(rank)))
        for (std::uint32_t channel = 0; channel < sockets.size(); ++channel) {
            std::string problem = "it closed the connection";
            const auto port = static_cast<std::uint16_t>(place.port);
            Descriptor socket = tcp::connect_to(place.host, port, deadline, problem);
            const Hello hello{.key = place.key, .rank = rank, .ranks = ranks, .channel = channel};
            if (socket.number() < 0 || !tcp::write_whole(socket, bytes_of(hello), deadline))
                throw Error(ErrorKind::io,
                            fmt::format("rank {} cannot be reached at {}: {}", place.rank,
                                        tcp::text_of(place.host, port), problem),
                            "see what its log says, and that the machines of ranks reach each other at all ports",
                            kNothingStarted);
            sockets[channel][static_cast<std::size_t>(&place - places.data())] = std::move(socket);
        }
    Visitors visitors(own.listener(), ranks * channels);
    for (int missing = (ranks - 1 - rank) * channels; missing > 0;) {
        std::optional<Visitor> visitor = visitors.next(deadline);
        if (!visitor) {
            std::vector<int> lacking;
            for (std::size_t other = static_cast<std::size_t>(rank) + 1; other < places.size(); ++other)
                if (sockets.back()[other].number() < 0) lacking.push_back(places[other].rank);
            throw Error(ErrorKind::io, fmt::format("not connected in time: rank {}", fmt::join(lacking, ", ")),
                        "see what its log says, and that the machines of ranks reach each other at all ports",
                        kNothingStarted);
        }
        const Hello& hello = visitor->hello;
        if (hello.key != own.key() || hello.ranks != ranks || hello.rank <= rank || hello.rank >= ranks ||
            hello.channel >= sockets.size())
            continue;
        Descriptor& socket = sockets[hello.channel][static_cast<std::size_t>(hello.rank)];
        if (socket.number() >= 0) continue;
        socket = std::move(visitor->socket);
        --missing;
    }
    return sockets;
}

}  // namespace deft::engine
