#include "engine/comm/mpi.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/stopwatch.h"

namespace deft::engine::mpi {

namespace {

// MPI from its start to its end. A process that unwinds from an error does not end it, but tells its error and exits: then
// mpirun ends all others, which would wait for it.
class Session {
 public:
    Session() {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    }
    ~Session() {
        if (ends_with_others && std::uncaught_exceptions() == 0) MPI_Finalize();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    bool ends_with_others = true;
};

// MPI counts in int, so what is longer goes in parts. message(first byte, bytes).
template <class Message>
void in_messages(std::size_t bytes, const Message& message) {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    for (std::size_t first = 0; first < bytes; first += kMost)
        message(first, static_cast<int>(std::min(kMost, bytes - first)));
}

// MPI's own waits keep a core busy. This one sleeps once it takes long, for an eighth of the time that it took so far, so
// that it ends little later than it could.
void wait_asleep(MPI_Request& request) {
    using std::chrono::microseconds;
    constexpr microseconds kAwake{1000}, kLongest{5000};
    const Clock::time_point start = Clock::now();
    for (int done = 0;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done != 0) return;
        const auto waited = std::chrono::duration_cast<microseconds>(Clock::now() - start);
        if (waited < kAwake)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::min(kLongest, waited / 8));
    }
}

}  // namespace

struct Group {
    std::shared_ptr<Session> session;
    MPI_Comm comm = MPI_COMM_NULL;
    bool is_split = false;
    std::int64_t sent = 0;
    std::vector<MPI_Request> requests;  // of one exchange

    ~Group() {
        if (is_split && session->ends_with_others && std::uncaught_exceptions() == 0) MPI_Comm_free(&comm);
    }
};

bool is_there() {
    return true;
}

std::shared_ptr<Group> of_launcher() {
    if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return {};
    int already = 0;
    MPI_Initialized(&already);
    if (already != 0) throw std::logic_error("the launcher's ranks are asked for twice");
    auto group = std::make_shared<Group>();
    group->session = std::make_shared<Session>();
    group->comm = MPI_COMM_WORLD;
    return group;
}

std::shared_ptr<Group> split(const std::shared_ptr<Group>& group, int color) {
    auto part = std::make_shared<Group>();
    part->session = group->session;
    part->is_split = true;
    MPI_Comm_split(group->comm, color, rank(*group), &part->comm);
    return part;
}

int rank(const Group& group) {
    int number = 0;
    MPI_Comm_rank(group.comm, &number);
    return number;
}

int size(const Group& group) {
    int ranks = 0;
    MPI_Comm_size(group.comm, &ranks);
    return ranks;
}

std::int64_t bytes_sent(const Group& group) {
    return group.sent;
}

void exchange(Group& group, std::span<const Piece<const std::byte>> sent, std::span<const Piece<std::byte>> received) {
    const int own = rank(group), ranks = size(group);
    std::vector<MPI_Request>& requests = group.requests;
    requests.clear();
    for (int other = 0; other < ranks; ++other) {
        if (other == own) continue;
        const Piece<std::byte>& piece = received[static_cast<std::size_t>(other)];
        in_messages(piece.bytes, [&](std::size_t first, int count) {
            MPI_Irecv(piece.at + first, count, MPI_BYTE, other, 0, group.comm, &requests.emplace_back());
        });
    }
    for (int other = 0; other < ranks; ++other) {
        if (other == own) continue;
        const Piece<const std::byte>& piece = sent[static_cast<std::size_t>(other)];
        in_messages(piece.bytes, [&](std::size_t first, int count) {
            MPI_Isend(piece.at + first, count, MPI_BYTE, other, 0, group.comm, &requests.emplace_back());
        });
        group.sent += static_cast<std::int64_t>(piece.bytes);
    }
    const Piece<const std::byte>& kept = sent[static_cast<std::size_t>(own)];
    std::copy_n(kept.at, kept.bytes, received[static_cast<std::size_t>(own)].at);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void broadcast(Group& group, std::byte* values, std::size_t bytes, int root) {
    in_messages(bytes, [&](std::size_t first, int count) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibcast(values + first, count, MPI_BYTE, root, group.comm, &request);
        wait_asleep(request);
    });
    if (rank(group) == root) group.sent += static_cast<std::int64_t>(bytes) * (size(group) - 1);
}

void send(Group& group, const std::byte* values, int bytes, int to) {
    MPI_Send(values, bytes, MPI_BYTE, to, 0, group.comm);
    group.sent += bytes;
}

void receive(Group& group, std::byte* values, int bytes, int from) {
    MPI_Recv(values, bytes, MPI_BYTE, from, 0, group.comm, MPI_STATUS_IGNORE);
}

void barrier(Group& group) {
    MPI_Barrier(group.comm);
}

void leave(Group& group) {
    group.session->ends_with_others = false;
}

}  // namespace deft::engine::mpi
