// Ranks over sockets, each a thread of this process: what they exchange, who is refused, and who is gone.

#include "engine/comm/sockets.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "engine/comm/handshake.h"
#include "engine/comm/tcp.h"
#include "engine/comm/visitors.h"
#include "tests/catch.h"
#include "tests/free_port.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::engine;
using namespace deft::test;

namespace {

using std::chrono::milliseconds;
using Ranks = std::shared_ptr<Transport>;
constexpr std::size_t kMiB = std::size_t{1} << 20;

Meeting meeting_at(const FreePort& port, int rank, int ranks, milliseconds patience = std::chrono::seconds(30)) {
    Meeting meeting;
    meeting.rank = rank;
    meeting.ranks = ranks;
    meeting.host = "127.0.0.1";
    meeting.port = port.number();
    meeting.patience = patience;
    return meeting;
}

// The errors of each body with their kind, as in "config: ...". Empty where it ends well.
std::vector<std::string> together(const std::vector<std::function<void()>>& bodies) {
    std::vector<std::string> ends(bodies.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        threads.emplace_back([&, i] {
            try {
                bodies[i]();
            } catch (const Error& error) {
                ends[i] = (error.kind() == ErrorKind::config ? "config: " : "io: ") + std::string(error.what());
            } catch (const std::exception& error) {
                ends[i] = error.what();
            }
        });
    for (std::thread& thread : threads) thread.join();
    return ends;
}

// The body on ranks that met.
std::vector<std::string> on_ranks(int count, const std::function<void(const Ranks&)>& body) {
    const FreePort port;
    std::vector<std::function<void()>> bodies;
    for (int rank = 0; rank < count; ++rank)
        bodies.push_back([&, rank] {
            const Ranks ranks = sockets::join(meeting_at(port, rank, count));
            body(ranks);
        });
    return together(bodies);
}

std::vector<std::string> all_well(int count) {
    return std::vector<std::string>(static_cast<std::size_t>(count));
}

void require(bool is_so, const std::string& what) {
    if (!is_so) throw std::runtime_error("not so: " + what);
}

// The values that one rank has for another, in one exchange.
std::vector<std::byte> values_for(int from, int to, std::size_t bytes) {
    std::vector<std::byte> values(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        values[i] = static_cast<std::byte>(i * 31 + (i >> 12) + static_cast<std::size_t>(from * 7 + to * 13));
    return values;
}

struct Pieces {
    std::vector<std::vector<std::byte>> sent, received;  // (ranks)
};

// bytes(from, to): how many one rank has for another.
Pieces pieces_of(const Ranks& ranks, const std::function<std::size_t(int, int)>& bytes) {
    Pieces pieces;
    for (int other = 0; other < ranks->size(); ++other) {
        const bool is_own = other == ranks->rank();
        pieces.sent.push_back(values_for(ranks->rank(), other, is_own ? 0 : bytes(ranks->rank(), other)));
        pieces.received.emplace_back(is_own ? 0 : bytes(other, ranks->rank()));
    }
    return pieces;
}

void begin(const Ranks& ranks, const Pieces& pieces) {
    std::vector<Outgoing> sent;
    for (const auto& values : pieces.sent) sent.push_back({values.data(), values.size()});
    ranks->begin_sending(sent);
}

void receive(const Ranks& ranks, Pieces& pieces) {
    std::vector<Incoming> received;
    for (auto& values : pieces.received) received.push_back({values.data(), values.size()});
    ranks->receive(received);
    for (int other = 0; other < ranks->size(); ++other) {
        const auto& values = pieces.received[static_cast<std::size_t>(other)];
        require(values == values_for(other, ranks->rank(), values.size()), "what came is what was sent");
    }
}

// A connection of somebody else to that port; waits until it is listened at.
Descriptor stranger_at(const FreePort& port) {
    const tcp::Host host{0, {127, 0, 0, 1}};
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(20);
    std::string problem;
    for (;;) {
        Descriptor socket = tcp::connect_to(host, port.number(), deadline, problem);
        if (socket.number() >= 0 || Clock::now() > deadline) return socket;
        std::this_thread::sleep_for(milliseconds(5));
    }
}

void say(const Descriptor& socket, const void* bytes, std::size_t count) {
    tcp::write_whole(socket, {static_cast<const std::byte*>(bytes), count}, Clock::now() + std::chrono::seconds(5));
}

double thread_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

}  // namespace

TEST_CASE("ranks exchange much more than a connection keeps, all with all at once, in unequal pieces and none") {
    const auto bytes = [](int from, int to) {
        return from == 1 && to == 0 ? 0
                                    : static_cast<std::size_t>(from * 5 + to) * 3 * kMiB + static_cast<std::size_t>(to);
    };
    CHECK(on_ranks(3, [&](const Ranks& ranks) {
              for (int round = 0; round < 2; ++round) {
                  Pieces pieces = pieces_of(ranks, bytes),
                         small = pieces_of(ranks, [](int, int to) { return to + 1u; });
                  const std::int64_t before = ranks->bytes_sent();
                  begin(ranks, pieces);
                  begin(ranks, small);
                  std::size_t all = 0;
                  for (const Pieces* both : {&pieces, &small})
                      for (const auto& values : both->sent) all += values.size();
                  require(ranks->bytes_sent() - before == static_cast<std::int64_t>(all), "payload is counted");
                  receive(ranks, pieces);
                  receive(ranks, small);
                  ranks->finish_sending();
              }
          }) == all_well(3));
}

TEST_CASE("what one group has begun to send keeps no other from anything, whatever they wait for") {
    constexpr std::size_t kMuch = 24 * kMiB;
    CHECK(on_ranks(2, [&](const Ranks& ranks) {
              const Ranks values = ranks->split(0), other = ranks->split(0);
              Pieces pieces = pieces_of(values, [&](int, int) { return kMuch; });
              Pieces of_other =
                  pieces_of(other, [](int from, int) { return static_cast<std::size_t>(from + 1) * 1000; });
              begin(values, pieces);
              if (ranks->rank() == 0) receive(values, pieces);  // while rank 1 waits for it elsewhere
              other->barrier();
              begin(other, of_other);
              receive(other, of_other);
              other->finish_sending();
              if (ranks->rank() == 1) receive(values, pieces);
              values->finish_sending();
          }) == all_well(2));
}

TEST_CASE("sending begins without the receiver, and data that is ready reaches it") {
    CHECK(on_ranks(2, [&](const Ranks& ranks) {
              Pieces pieces = pieces_of(ranks, [](int from, int) { return from == 0 ? 32 * kMiB : 0; });
              const Ranks control = ranks->split(0);
              if (ranks->rank() == 0) {
                  const Clock::time_point start = Clock::now();
                  begin(ranks, pieces);
                  require(seconds_since(start) < 2, "begin_sending() does not wait");
                  control->barrier();
                  ranks->finish_sending();
              } else {
                  control->barrier();
                  std::this_thread::sleep_for(milliseconds(200));
                  receive(ranks, pieces);
              }
          }) == all_well(2));
}

TEST_CASE("groups of groups have the ranks of equal color in their order, and mix nothing up") {
    CHECK(on_ranks(4, [](const Ranks& ranks) {
              const int rank = ranks->rank();
              const Ranks half = ranks->split(rank / 2), odd = ranks->split(rank % 2);
              const Ranks one = half->split(rank), all = half->split(7);
              require(half->size() == 2 && half->rank() == rank % 2, "halves");
              require(odd->size() == 2 && odd->rank() == rank / 2, "odd and even ones");
              require(one->size() == 1 && one->rank() == 0, "a rank alone");
              one->barrier();
              require(all->size() == 2 && all->rank() == rank % 2, "a group as large as the one it is of");
              const std::vector<Ranks> groups = {ranks, half, odd, all};
              std::vector<Pieces> pieces;
              for (std::size_t g = 0; g < groups.size(); ++g) {
                  const auto bytes = [&](int from, int to) {
                      return static_cast<std::size_t>(from + 2 * to) * 100 + g;
                  };
                  pieces.push_back(pieces_of(groups[g], bytes));
                  begin(groups[g], pieces[g]);
              }
              for (std::size_t g = groups.size(); g-- > 0;) receive(groups[g], pieces[g]);
              for (const Ranks& group : groups) group->finish_sending();
              for (const Ranks& group : groups)
                  for (int root = 0; root < group->size(); ++root) {
                      std::vector<std::byte> values(300'000, static_cast<std::byte>(group->rank() + 1));
                      group->broadcast(values.data(), values.size(), root);
                      require(values == std::vector<std::byte>(300'000, static_cast<std::byte>(root + 1)), "broadcast");
                      group->broadcast(values.data(), 0, root);
                  }
          }) == all_well(4));
}

TEST_CASE("a rank that waits uses no core") {
    double used = 1;
    CHECK(on_ranks(2, [&](const Ranks& ranks) {
              ranks->barrier();
              if (ranks->rank() == 1) std::this_thread::sleep_for(milliseconds(500));
              const double before = thread_seconds();
              ranks->barrier();
              if (ranks->rank() == 0) used = thread_seconds() - before;
          }) == all_well(2));
    CHECK(used < 0.1);
}

TEST_CASE("ranks that do not do the same are refused") {
    const auto ends = on_ranks(2, [](const Ranks& ranks) {
        std::array<std::byte, 8> values{};
        if (ranks->rank() == 0) ranks->send(values.data(), 8, 1);
        if (ranks->rank() == 1) ranks->receive(values.data(), 5, 0);
    });
    CHECK(ends[0].empty());
    CHECK_THAT(ends[1], ContainsSubstring("rank 0 sent 8 bytes") && ContainsSubstring("where 5") &&
                            ContainsSubstring("ranks do not do the same"));
    const auto others = on_ranks(2, [](const Ranks& ranks) {
        std::array<std::byte, 8> values{};
        if (ranks->rank() == 0) ranks->broadcast(values.data(), 8, 0);
        if (ranks->rank() == 1) ranks->receive(values.data(), 8, 0);
    });
    CHECK_THAT(others[1], ContainsSubstring("ranks do not do the same"));
}

TEST_CASE("a rank that is gone is named on all others, also those that wait for another") {
    const auto ends = on_ranks(4, [](const Ranks& ranks) {
        const Ranks pair = ranks->split(ranks->rank() / 2);
        std::array<std::byte, 8> values{};
        ranks->barrier();
        if (ranks->rank() == 3) return ranks->leave();
        if (ranks->rank() == 2) return pair->receive(values.data(), 8, 1);
        ranks->receive(values.data(), 8, 2);
    });
    CHECK(ends[3].empty());
    for (std::size_t r = 0; r < 3; ++r) CHECK_THAT(ends[r], ContainsSubstring("io: rank 3 is gone"));
}

TEST_CASE("a rank that ends because of another says so, and is not taken for the one that was lost") {
    const auto ends = on_ranks(3, [](const Ranks& ranks) {
        std::byte value{};
        if (ranks->rank() == 2) return ranks->leave();
        if (ranks->rank() == 0) std::this_thread::sleep_for(milliseconds(400));  // until both are gone
        ranks->receive(&value, 1, ranks->rank() == 0 ? 1 : 2);
    });
    CHECK_THAT(ends[0], ContainsSubstring("rank 2 is gone: rank 1 ended because of that"));
    CHECK_THAT(ends[1], ContainsSubstring("rank 2 is gone"));
}

TEST_CASE("a rank that waits hears at once of one that is gone, whoever it waits for") {
    double waited = 100;
    const auto ends = on_ranks(3, [&](const Ranks& ranks) {
        std::byte value{};
        if (ranks->rank() == 2) return ranks->leave();
        if (ranks->rank() == 1) return std::this_thread::sleep_for(milliseconds(1500));  // and hears of nothing
        const Clock::time_point start = Clock::now();
        try {
            ranks->receive(&value, 1, 1);
        } catch (const Error&) {
            waited = seconds_since(start);
            throw;
        }
    });
    CHECK_THAT(ends[0], ContainsSubstring("rank 2 is gone: it closed its connection"));
    CHECK(waited < 1);
}

TEST_CASE("a rank whose error unwinds it says no goodbye, and one that ended well is missed only where it is awaited") {
    const auto failing = on_ranks(3, [](const Ranks& ranks) {
        const Ranks own = ranks;
        if (ranks->rank() == 1) throw std::runtime_error("nothing to give");
        ranks->barrier();
    });
    CHECK(failing[1] == "nothing to give");
    CHECK_THAT(failing[0], ContainsSubstring("rank 1 is gone") && !ContainsSubstring("it has ended"));
    CHECK_THAT(failing[2], ContainsSubstring("rank 1 is gone"));
    CHECK(on_ranks(3, [](const Ranks& ranks) {
              std::byte value{};
              if (ranks->rank() == 0) ranks->receive(&value, 1, 2);
              if (ranks->rank() != 2) return;
              std::this_thread::sleep_for(milliseconds(300));  // rank 0 sleeps while rank 1 ends
              ranks->send(&value, 1, 0);
          }) == all_well(3));
    const auto ended = on_ranks(2, [](const Ranks& ranks) {
        std::byte value{};
        if (ranks->rank() == 1) ranks->receive(&value, 1, 0);
    });
    CHECK(ended[0].empty());
    CHECK_THAT(ended[1], ContainsSubstring("rank 0 is gone: it has ended, while this one goes on"));
}

TEST_CASE("what is sent to a rank that is gone is an error and no signal") {
    const auto ends = on_ranks(2, [](const Ranks& ranks) {
        if (ranks->rank() == 1) return ranks->leave();
        const std::vector<std::byte> values(32 * kMiB);
        const std::vector<Outgoing> sent = {{}, {values.data(), values.size()}};
        std::this_thread::sleep_for(milliseconds(100));
        ranks->begin_sending(sent);
        ranks->finish_sending();
    });
    CHECK_THAT(ends[0], ContainsSubstring("rank 1 is gone"));
}

TEST_CASE("ranks meet by IPv6, by a host's own name, and whoever comes first") {
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    for (const std::string& host : {std::string("localhost"), std::string("::1"), std::string(name)}) {
        std::string problem;
        const std::vector<tcp::Host> hosts = tcp::hosts_named(host, problem);
        if (hosts.empty() || (host == "::1" && tcp::connect_to(hosts[0], 9, Clock::now(), problem).number() < 0 &&
                              problem == error_text(EADDRNOTAVAIL)))
            continue;  // this machine has none
        INFO(host);
        const FreePort port;
        std::vector<std::function<void()>> bodies;
        for (int rank = 0; rank < 3; ++rank)
            bodies.push_back([&, rank] {
                Meeting meeting = meeting_at(port, rank, 3);
                meeting.host = host;
                if (rank == 0) std::this_thread::sleep_for(milliseconds(200));
                const Ranks ranks = sockets::join(meeting);
                ranks->barrier();
            });
        CHECK(together(bodies) == all_well(3));
    }
}

TEST_CASE("strangers who say something else, a part, or nothing do not disturb a meeting") {
    const FreePort port;
    std::vector<std::function<void()>> bodies;
    bodies.push_back([&] {
        const Ranks ranks = sockets::join(meeting_at(port, 0, 2));
        ranks->barrier();
    });
    bodies.push_back([&] {
        std::vector<Descriptor> strangers;
        for (int i = 0; i < 270; ++i) strangers.push_back(stranger_at(port));
        say(strangers[0], "GET / HTTP/1.1\r\nHost: first\r\nAccept: */*\r\nUser-Agent: a browser that says much\r\n",
            80);
        say(strangers[1], "x", 1);
        const std::vector<std::byte> noise(sizeof(Hello), std::byte{0xff});
        say(strangers[2], noise.data(), noise.size());
        strangers[3].close();
        Hello hello;  // which knows the first words, and asks for much
        hello.rank = 1 << 30;
        hello.ranks = -1;
        say(strangers[4], &hello, sizeof hello);
        hello.ranks = 2;
        for (const int rank : {-1, 0, 2}) {
            hello.rank = rank;
            say(strangers[static_cast<std::size_t>(rank + 6)], &hello, sizeof hello);
        }
        hello.rank = 1;
        say(strangers[9], &hello, sizeof hello / 2);
        const Ranks ranks = sockets::join(meeting_at(port, 1, 2));
        ranks->barrier();
        std::byte answer{};
        require(!tcp::read_whole(strangers[2], std::span(&answer, 1), Clock::now() + milliseconds(100)), "no answer");
    });
    CHECK(together(bodies) == all_well(2));
}

TEST_CASE("a door beside rank 0 is where rank 0 was found, and others where rank 0 sees them") {
    const tcp::Host first{0, {10, 0, 0, 1}}, loopback{0, {127, 0, 0, 1}}, elsewhere{0, {10, 0, 0, 2}};
    const auto seen = [&](const tcp::Host& host, int rank) {
        return tcp::text_of(seen_from(first, {host, 0, rank, 0}).host, 9);
    };
    CHECK(seen({}, 0) == "10.0.0.1:9");
    CHECK(seen(loopback, 1) == "10.0.0.1:9");
    CHECK(seen({1, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}, 1) == "10.0.0.1:9");
    CHECK(seen(elsewhere, 1) == "10.0.0.2:9");
}

TEST_CASE("a door opens to those who know its number, once for each") {
    const Door first, second;
    const std::vector<DoorAddress> places = {{{0, {127, 0, 0, 1}}, first.port(), 0, first.key()},
                                             {{0, {127, 0, 0, 1}}, second.port(), 1, second.key()}};
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(20);
    CHECK(first.key() != second.key());
    std::string problem;
    std::vector<Descriptor> strangers;
    for (const Hello& hello :
         {Hello{.key = first.key() + 1, .rank = 1, .ranks = 2}, Hello{.key = first.key(), .rank = 0, .ranks = 2},
          Hello{.key = first.key(), .rank = 2, .ranks = 2}, Hello{.key = first.key(), .rank = 1, .ranks = 3},
          Hello{.key = first.key(), .rank = 1, .ranks = 2, .channel = 1}}) {
        strangers.push_back(tcp::connect_to(places[0].host, first.port(), deadline, problem));
        say(strangers.back(), &hello, sizeof hello);
    }
    auto of_second = connect_pairs(1, places, second, 1, deadline);
    auto of_first = connect_pairs(0, places, first, 1, deadline);
    const std::byte said{42};
    std::byte heard{};
    say(of_second[0][0], &said, 1);
    CHECK(tcp::read_whole(of_first[0][1], std::span(&heard, 1), deadline));
    CHECK(heard == said);
    CHECK(refusal(
              ErrorKind::io, [&] { connect_pairs(0, places, first, 1, Clock::now() + milliseconds(50)); },
              "not connected in time: rank 1") != "accepted");
    const std::vector<DoorAddress> nowhere = {{{0, {127, 0, 0, 1}}, FreePort().number(), 5, 1}, places[1]};
    CHECK(refusal(
              ErrorKind::io, [&] { connect_pairs(1, nowhere, second, 1, deadline); },
              "rank 5 cannot be reached at 127.0.0.1:") != "accepted");
}

namespace {

// Whether a socket of this process listens at another address than the loopback.
bool listens_to_others() {
    std::set<std::string> own;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        own.insert(std::filesystem::read_symlink(entry.path(), ignored).string());
    for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        std::ifstream lines(file);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string number, address, peer, state, skipped, inode;
            words >> number >> address >> peer >> state >> skipped >> skipped >> skipped >> skipped >> skipped >> inode;
            const bool is_loopback = address.starts_with("0100007F:") || address.starts_with("0200007F:") ||
                                     address.starts_with("00000000000000000000000001000000:");
            if (state == "0A" && own.contains("socket:[" + inode + "]") && !is_loopback) return true;
        }
    }
    return false;
}

}  // namespace

TEST_CASE("ranks of one machine listen at its loopback alone, and groups of them too") {
    const auto is_open_at = [](const std::string& host, std::uint16_t port) {
        std::string problem;
        const tcp::Host address = tcp::hosts_named(host, problem)[0];
        return tcp::connect_to(address, port, Clock::now() + std::chrono::seconds(5), problem).number() >= 0;
    };
    // 127.0.0.2 is this machine too, and another address.
    {
        const Door here("127.0.0.1"), everywhere;
        CHECK((is_open_at("127.0.0.1", here.port()) && !is_open_at("127.0.0.2", here.port())));
        CHECK((is_open_at("127.0.0.1", everywhere.port()) && is_open_at("127.0.0.2", everywhere.port())));
        CHECK(listens_to_others());
    }
    std::vector<std::string> hosts = {"127.0.0.1", "127.0.0.2"};
    std::string unknown;  // a bare system may have no names of hosts
    if (!tcp::hosts_named("localhost", unknown).empty()) hosts.emplace_back("localhost");
    for (const std::string& host : hosts) {
        const FreePort port;
        std::vector<std::function<void()>> bodies;
        for (int rank = 0; rank < 3; ++rank)
            bodies.push_back([&, rank] {
                Meeting meeting = meeting_at(port, rank, 3);
                meeting.host = host;
                const Ranks ranks = sockets::join(meeting);
                ranks->barrier();
                if (rank == 2) {  // the others listen, and wait for it
                    std::this_thread::sleep_for(milliseconds(300));
                    require(meeting.host == "127.0.0.2" || !listens_to_others(), "all listen at the loopback");
                }
                ranks->split(0)->barrier();
            });
        CHECK(together(bodies) == all_well(3));
    }
}

TEST_CASE("a rank is refused where none listens, or somebody else does") {
    const FreePort port;
    const std::string address = "127.0.0.1:" + std::to_string(port.number());
    const auto join_second = [&] { sockets::join(meeting_at(port, 1, 2, milliseconds(300))); };
    CHECK_THAT(together({join_second})[0],
               ContainsSubstring("io: rank 1 found no rank 0 at " + address + " within 0.3 s: Connection refused"));
    Meeting unknown = meeting_at(port, 1, 2, milliseconds(300));
    unknown.host = "no.such.host.invalid";
    CHECK_THAT(together({[&] { sockets::join(unknown); }})[0],
               ContainsSubstring("the name no.such.host.invalid is not known"));

    const Descriptor listener = tcp::listen_at("127.0.0.1", port.number());
    const auto answered = [&](const std::string& text, bool closes) {
        return together({join_second, [&] {
                             tcp::wait_for(listener, POLLIN, Clock::now() + std::chrono::seconds(5));
                             const Descriptor visitor = tcp::accept_from(listener);
                             say(visitor, text.data(), text.size());
                             if (!closes) std::this_thread::sleep_for(milliseconds(6000));
                         }})[0];
    };
    const std::string greeting = "220 mail.example.org ESMTP, whom do you want to write to today?";
    CHECK_THAT(answered(greeting, true),
               ContainsSubstring("config: the process at " + address + " is not rank 0 of deft"));
    CHECK_THAT(answered("", false), ContainsSubstring("io: what listens at " + address + " did not answer rank 1"));
    // The port of a rank 0 is that listener's.
    CHECK_THAT(together({[&] { sockets::join(meeting_at(port, 0, 2)); }})[0],
               ContainsSubstring("io: port " + std::to_string(port.number()) + " of 127.0.0.1") &&
                   ContainsSubstring("at which ranks are to meet, is taken"));
}

TEST_CASE("ranks that were not started for each other are refused with the reason") {
    const auto meet = [](int ranks, const std::vector<Meeting>& others) {
        const FreePort port;
        std::vector<std::function<void()>> bodies = {
            [&, ranks] { sockets::join(meeting_at(port, 0, ranks, milliseconds(1500))); }};
        for (const Meeting& other : others)
            bodies.push_back([&] {
                Meeting meeting = meeting_at(port, other.rank, other.ranks);
                meeting.token = other.token;
                sockets::join(meeting);
            });
        return together(bodies);
    };
    const auto other = [](int rank, int ranks, const std::string& token = "") {
        Meeting meeting;
        meeting.rank = rank;
        meeting.ranks = ranks;
        meeting.token = token;
        return meeting;
    };
    const auto twice = meet(3, {other(1, 3), other(1, 3)});
    const std::string missing = "of 3 ranks 2 did not come to 127.0.0.1:";
    CHECK_THAT(twice[0], ContainsSubstring("io: " + missing) &&
                             ContainsSubstring("within 1.5 s; turned away: rank 1 of 3 was started twice"));
    CHECK(std::count_if(twice.begin() + 1, twice.end(), [](const std::string& end) {
              return end.find("says: rank 1 of 3 was started twice") != std::string::npos &&
                     end.starts_with("config: ");
          }) == 1);
    CHECK(std::count_if(twice.begin() + 1, twice.end(), [&](const std::string& end) {
              return end.find("says: " + missing) != std::string::npos && end.starts_with("io: ");
          }) == 1);
    const auto sizes = meet(2, {other(1, 4)});
    CHECK_THAT(sizes[1], ContainsSubstring("config: ") &&
                             ContainsSubstring("rank 1 was started as one of 4 ranks, and rank 0 as one of 2") &&
                             ContainsSubstring("help: start all ranks with the same WORLD_SIZE"));
    CHECK_THAT(sizes[0], ContainsSubstring("turned away: rank 1 was started as one of 4 ranks"));
    CHECK_THAT(meet(2, {other(1, 2, "of another job")})[1],
               ContainsSubstring("config: ") && ContainsSubstring("ranks of another job meet"));
}
