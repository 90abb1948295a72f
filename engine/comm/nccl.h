#pragma once
// Bytes between the memory of ranks' devices, one device a rank: nccl.cpp where the build has NCCL, no_nccl.cpp where
// it has not. Tests of the emulated device have another, whose memory is the host's.

#include <memory>
#include <span>

#include "engine/comm/transport.h"
#include "kernels/cuda/exec.h"

namespace deft::engine::nccl {

bool is_there();

struct Group;

// All ranks of the transport call it; through it they meet. Exchanges are in a stream of their own, and wait for no
// kernel but those that ran before follow(); or in that of another group of the same device, in order with its. Errors:
// missing, without NCCL; device, as of each call here.
std::shared_ptr<Group> open(const std::shared_ptr<Transport>& ranks, const kernels::cuda::Exec& computing);
std::shared_ptr<Group> open(const std::shared_ptr<Transport>& ranks, const Group& in_stream_of);

// That stream's.
kernels::cuda::Exec& exec(Group& group);
// Later work in that stream waits for all that was computed so far; and the reverse.
void follow(Group& group);
void rejoin(Group& group);

// Pieces as of Transport, in the order of the stream.
void exchange(Group& group, std::span<const Outgoing> sent, std::span<const Incoming> received);

}  // namespace deft::engine::nccl
