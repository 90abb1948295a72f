#pragma once
// Ranks: processes that train one model together, and their communication. The transport is chosen when they start
// (mpirun or srun --mpi=pmix: MPI; else this process is alone; between devices NCCL), and only this folder knows it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/bf16.h"
#include "kernels/cuda/exec.h"

namespace deft::engine {

class Transport;
class ValueHome;

// A rank's number, and of how many.
struct RankOf {
    int rank = 0, ranks = 1;
};

// The part of a range that is one rank's: contiguous, in the order of ranks, and as even as it goes.
struct Share {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};
Share share_of(std::int64_t count, int rank, int ranks);
// The intersection of two parts of one range; of size 0 where it is empty.
Share common_part(const Share& a, const Share& b);

// All ranks of a communicator call the same operations in the same order, with as many values each; send() and
// receive() are of two ranks alone. An error that unwinds the last communicator of a process ends all ranks with that
// process; where it is caught before, leave() does.
class Communicator {
 public:
    // Alone: one rank, from which nothing moves.
    Communicator() = default;
    // The ranks that a launcher started together with this process; alone where none did. Once in a process. Errors:
    // missing, where a launcher with MPI started several processes of a build without it; config, where several
    // processes have no MPI between them.
    static Communicator of_launcher();
    // Whether ranks of this build can have MPI between them, and whether those can have a device each.
    static bool has_mpi();
    static bool has_nccl();

    int rank() const { return rank_; }
    int size() const { return size_; }
    RankOf rank_of() const { return {rank_, size_}; }
    // The ranks of equal color, in their order. Not negative.
    Communicator split(int color) const;

    // From now on sums, gathers and exchanges work in the memory of the ranks' devices, each rank's its own, and
    // is so in the order of that Exec's stream. scratch: of the device, for what comes to be summed. Of all copies of
    // this communicator; one that is split off has its values on the host. All ranks call it. Errors: missing, in a
    // build without NCCL; device.
    void use_device(const kernels::cuda::Exec& exec, std::span<std::byte> scratch) const;
    // The same device, stream and scratch as another communicator of this rank uses.
    void use_device_of(const Communicator& other) const;

    // values = their sum over ranks. Each is summed in the order of ranks, whatever library carries them: the same bits
    // on every rank, and in every run.
    void all_reduce(std::span<float> values) const;
    void all_reduce(std::span<double> values) const;
    void all_reduce(std::span<std::int64_t> values) const;
    // The same of this rank's share of the values alone; the others stay as they are.
    void reduce_scatter(std::span<float> values) const;
    void reduce_scatter(std::span<double> values) const;
    // The same of those of the values that are in `range`, which stay as they are until finish(); before it nothing
    // else is summed, gathered or exchanged here. What this rank computes in between keeps no other rank waiting.
    void begin_reduce_scatter(std::span<float> values, const Share& range) const;
    void begin_reduce_scatter(std::span<double> values, const Share& range) const;
    void finish() const;
    // Places each rank's share of the values on all ranks.
    void all_gather(std::span<float> values) const;
    void all_gather(std::span<double> values) const;
    void all_gather(std::span<kernels::bf16> values) const;
    // The same of those of the values that are in `range`.
    void all_gather(std::span<float> values, const Share& range) const;
    // Rows of row_bytes bytes: sent[r] of them for rank r, ordered by ranks in `rows`; received[r] from rank r come to
    // `into` likewise.
    void all_to_all(std::span<const std::byte> rows, std::span<const std::int64_t> sent, std::span<std::byte> into,
                    std::span<const std::int64_t> received, std::int64_t row_bytes) const;

    // The operations below always work in the host's memory.

    // A rank that waits long for it leaves its core to others.
    void broadcast(std::span<std::byte> values, int root) const;
    // To another rank, which receives as many bytes, and in the order in which they were sent.
    void send(std::span<const std::byte> values, int to) const;
    void receive(std::span<std::byte> values, int from) const;
    void barrier() const;
    // This process will end without the others, which its launcher then ends too: after an error that they may not
    // have.
    void leave() const;

    // Payload that left this rank through this communicator so far.
    std::int64_t bytes_sent() const;

 private:
    struct Ranks;
    explicit Communicator(std::shared_ptr<Transport> transport);

    std::shared_ptr<Ranks> ranks_;  // null: alone
    int rank_ = 0, size_ = 1;
};

// That rank's text, on all ranks. All of them call it.
std::string text_of_rank(const Communicator& ranks, int rank, std::string text);

}  // namespace deft::engine
