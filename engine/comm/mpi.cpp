#include "engine/comm/mpi.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>

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
        if (std::uncaught_exceptions() == 0) MPI_Finalize();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
};

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

    ~Group() {
        if (is_split && std::uncaught_exceptions() == 0) MPI_Comm_free(&comm);
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

void exchange(Group& group, const std::byte* from, const Pieces& sent, std::byte* to, const Pieces& received) {
    MPI_Alltoallv(from, sent.count.data(), sent.start.data(), MPI_BYTE, to, received.count.data(), received.start.data(),
                  MPI_BYTE, group.comm);
    const int own = rank(group);
    for (int r = 0; r < static_cast<int>(sent.count.size()); ++r)
        if (r != own) group.sent += sent.count[static_cast<std::size_t>(r)];
}

void broadcast(Group& group, std::byte* values, std::size_t bytes, int root) {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    for (std::size_t first = 0; first < bytes; first += kMost) {
        const std::size_t count = bytes - first < kMost ? bytes - first : kMost;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibcast(values + first, static_cast<int>(count), MPI_BYTE, root, group.comm, &request);
        wait_asleep(request);
    }
    if (rank(group) == root) group.sent += static_cast<std::int64_t>(bytes) * (size(group) - 1);
}

void barrier(Group& group) {
    MPI_Barrier(group.comm);
}

}  // namespace deft::engine::mpi
