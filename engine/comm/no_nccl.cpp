// A build without NCCL.

#include <stdexcept>

#include "base/error.h"
#include "engine/comm/nccl.h"

namespace deft::engine::nccl {

struct Group {
    kernels::cuda::Exec exec;
};

bool is_there() {
    return false;
}

std::shared_ptr<Group> open(const std::shared_ptr<Transport>&, const kernels::cuda::Exec&) {
    throw Error(
        ErrorKind::missing, "several ranks on GPUs need NCCL, which this build lacks",
        "install NCCL (NVIDIA: libnccl-dev), or set NCCL_ROOT to its folder, and build again with -DDEFT_CUDA=ON",
        "nothing was started");
}

std::shared_ptr<Group> open(const std::shared_ptr<Transport>& ranks, const Group& in_stream_of) {
    return open(ranks, in_stream_of.exec);
}

kernels::cuda::Exec& exec(Group& group) {
    return group.exec;
}

void follow(Group&) {}
void rejoin(Group&) {}

void exchange(Group&, std::span<const Outgoing>, std::span<const Incoming>) {
    throw std::logic_error("an exchange of a build without NCCL");
}

}  // namespace deft::engine::nccl
