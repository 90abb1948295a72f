#include <nccl.h>

#include <exception>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "engine/comm/nccl.h"

namespace deft::engine::nccl {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& why, const std::string& fix) {
    throw Error(ErrorKind::device, what + " failed: " + why, fix, "checkpoints written so far");
}

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) fail(what, cudaGetErrorString(status), "");
}

void check(ncclResult_t status, const char* what, ncclComm_t comm = nullptr) {
    if (status == ncclSuccess) return;
    fail(what, std::string(ncclGetErrorString(status)) + ": " + ncclGetLastError(comm),
         "each rank needs a GPU of its own; set NCCL_DEBUG=INFO for details");
}

// One for all groups of a device: on every rank its exchanges then have one order, whatever group they are of. Two at
// once could wait for each other's kernels.
struct Stream {
    explicit Stream(cudaStream_t beside) : computing(beside) {
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaEventCreateWithFlags(&passed, cudaEventDisableTiming), "cudaEventCreate");
    }
    ~Stream() {
        cudaStreamSynchronize(stream);
        cudaEventDestroy(passed);
        cudaStreamDestroy(stream);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // Work in `last` waits for all work that `first` was given.
    void order(cudaStream_t first, cudaStream_t last) const {
        check(cudaEventRecord(passed, first), "cudaEventRecord");
        check(cudaStreamWaitEvent(last, passed, 0), "cudaStreamWaitEvent");
    }

    cudaStream_t computing, stream = nullptr;
    cudaEvent_t passed = nullptr;
};

}  // namespace

bool is_there() {
    return true;
}

struct Group {
    Group(const std::shared_ptr<Transport>& ranks, std::shared_ptr<Stream> of_device, kernels::cuda::Exec computing)
        : stream(std::move(of_device)), exec(computing) {
        exec.stream = stream->stream;
        exec.counters = {};  // the computing stream alone uses them, and the workspace
        exec.workspace = {};
        ncclUniqueId id{};
        if (ranks->rank() == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
        ranks->broadcast(reinterpret_cast<std::byte*>(&id), sizeof id, 0);
        check(ncclCommInitRank(&comm, ranks->size(), id, ranks->rank()), "ncclCommInitRank");
    }
    ~Group() {
        // Ranks end a communicator together; one that unwinds from an error does not wait for the others.
        if (std::uncaught_exceptions() == 0)
            ncclCommDestroy(comm);
        else
            ncclCommAbort(comm);
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    std::shared_ptr<Stream> stream;
    kernels::cuda::Exec exec;
    ncclComm_t comm = nullptr;
};

std::shared_ptr<Group> open(const std::shared_ptr<Transport>& ranks, const kernels::cuda::Exec& computing) {
    auto stream = std::make_shared<Stream>(static_cast<cudaStream_t>(computing.stream));
    return std::make_shared<Group>(ranks, std::move(stream), computing);
}

std::shared_ptr<Group> open(const std::shared_ptr<Transport>& ranks, const Group& in_stream_of) {
    return std::make_shared<Group>(ranks, in_stream_of.stream, in_stream_of.exec);
}

kernels::cuda::Exec& exec(Group& group) {
    return group.exec;
}

void follow(Group& group) {
    group.stream->order(group.stream->computing, group.stream->stream);
}

void rejoin(Group& group) {
    group.stream->order(group.stream->stream, group.stream->computing);
}

// Sends and receives alone: sums are the kernels' own, and no algorithm that NCCL chooses shows in them.
void exchange(Group& group, std::span<const Outgoing> sent, std::span<const Incoming> received) {
    check(ncclGroupStart(), "ncclGroupStart");
    const ncclComm_t comm = group.comm;
    const cudaStream_t stream = group.stream->stream;
    for (std::size_t r = 0; r < sent.size(); ++r) {
        const int rank = static_cast<int>(r);
        const Outgoing& out = sent[r];
        const Incoming& in = received[r];
        if (out.bytes > 0) check(ncclSend(out.at, out.bytes, ncclInt8, rank, comm, stream), "ncclSend", comm);
        if (in.bytes > 0) check(ncclRecv(in.at, in.bytes, ncclInt8, rank, comm, stream), "ncclRecv", comm);
    }
    check(ncclGroupEnd(), "ncclGroupEnd", group.comm);
}

}  // namespace deft::engine::nccl
