// In NCCL's place where the device is emulated: its memory is the host's, and its streams are done at once.

#include "engine/comm/nccl.h"

namespace deft::engine::nccl {

struct Group {
    std::shared_ptr<Transport> ranks;
    kernels::cuda::Exec exec;
};

bool is_there() {
    return true;
}

std::shared_ptr<Group> open(const std::shared_ptr<Transport>& ranks, const kernels::cuda::Exec& computing) {
    return std::make_shared<Group>(ranks->split(0), computing);  // whose bytes are not counted among those of the host
}

std::shared_ptr<Group> open(const std::shared_ptr<Transport>& ranks, const Group& in_stream_of) {
    return open(ranks, in_stream_of.exec);
}

kernels::cuda::Exec& exec(Group& group) {
    return group.exec;
}

void follow(Group&) {}
void rejoin(Group&) {}

void exchange(Group& group, std::span<const Outgoing> sent, std::span<const Incoming> received) {
    group.ranks->begin_sending(sent);
    group.ranks->receive(received);
    group.ranks->finish_sending();
}

}  // namespace deft::engine::nccl
