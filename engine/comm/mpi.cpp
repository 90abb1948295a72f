#include "engine/comm/mpi.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/stopwatch.h"

namespace deft::engine::mpi {

namespace {

// MPI from its start to its end. A process that unwinds from an error does not end it, but reports it and exits: then
// the launcher ends all others, which would wait for it.
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

// MPI's own waits keep a core busy. This one sleeps once it takes long, for an eighth of the time that it took so far,
// so that it ends little later than it could.
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

class MpiRanks final : public Transport {
 public:
    MpiRanks(std::shared_ptr<Session> session, MPI_Comm comm, bool is_split)
        : session_(std::move(session)), comm_(comm), is_split_(is_split) {
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
    }
    ~MpiRanks() override {
        if (is_split_ && session_->ends_with_others && std::uncaught_exceptions() == 0) MPI_Comm_free(&comm_);
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    std::shared_ptr<Transport> split(int color) override {
        MPI_Comm part = MPI_COMM_NULL;
        MPI_Comm_split(comm_, color, rank_, &part);
        return std::make_shared<MpiRanks>(session_, part, true);
    }

    void begin_sending(std::span<const Outgoing> pieces) override {
        for (int other = 0; other < size_; ++other) {
            const Outgoing& piece = pieces[static_cast<std::size_t>(other)];
            in_messages(piece.bytes, [&](std::size_t first, int count) {
                MPI_Isend(piece.at + first, count, MPI_BYTE, other, 0, comm_, &sending_.emplace_back());
            });
            count_sent(piece.bytes);
        }
    }

    void receive(std::span<const Incoming> pieces) override {
        receiving_.clear();
        for (int other = 0; other < size_; ++other) {
            const Incoming& piece = pieces[static_cast<std::size_t>(other)];
            in_messages(piece.bytes, [&](std::size_t first, int count) {
                MPI_Irecv(piece.at + first, count, MPI_BYTE, other, 0, comm_, &receiving_.emplace_back());
            });
        }
        wait_for(receiving_);
    }

    void finish_sending() override {
        wait_for(sending_);
        sending_.clear();
    }

    void broadcast(std::byte* values, std::size_t bytes, int root) override {
        in_messages(bytes, [&](std::size_t first, int count) {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Ibcast(values + first, count, MPI_BYTE, root, comm_, &request);
            wait_asleep(request);
        });
        if (rank_ == root) count_sent(bytes * static_cast<std::size_t>(size_ - 1));
    }

    void send(const std::byte* values, std::size_t bytes, int to) override {
        in_messages(bytes,
                    [&](std::size_t first, int count) { MPI_Send(values + first, count, MPI_BYTE, to, 0, comm_); });
        count_sent(bytes);
    }

    void receive(std::byte* values, std::size_t bytes, int from) override {
        in_messages(bytes, [&](std::size_t first, int count) {
            MPI_Recv(values + first, count, MPI_BYTE, from, 0, comm_, MPI_STATUS_IGNORE);
        });
    }

    void barrier() override { MPI_Barrier(comm_); }
    void leave() override { session_->ends_with_others = false; }

 private:
    static void wait_for(std::vector<MPI_Request>& requests) {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }

    std::shared_ptr<Session> session_;
    MPI_Comm comm_;
    bool is_split_;
    int rank_ = 0, size_ = 1;
    std::vector<MPI_Request> sending_, receiving_;
};

}  // namespace

bool is_there() {
    return true;
}

std::shared_ptr<Transport> of_launch(const Launch& launch) {
    int already = 0;
    MPI_Initialized(&already);
    if (already != 0) throw std::logic_error("the launcher's ranks are asked for twice");
    auto session = std::make_shared<Session>();
    auto ranks = std::make_shared<MpiRanks>(std::move(session), MPI_COMM_WORLD, false);
    if (!launch.processes.empty() && launch.processes != std::to_string(ranks->size()))
        throw Error(
            ErrorKind::config,
            fmt::format("{} processes were started together, and MPI finds {}", launch.processes, ranks->size()),
            "start them by the mpirun, or the PMIx, of the MPI that this program was built with",
            "nothing was started");
    return ranks;
}

}  // namespace deft::engine::mpi
