#include "engine/core/op_profile.h"

namespace deft::engine {

const char* phase_name(Phase phase) {
    switch (phase) {
        case Phase::forward:
            return "forward";
        case Phase::backward:
            return "backward";
        case Phase::update:
            break;
    }
    return "update";
}

OpTimer::OpTimer(Exec& exec, const char* op, Phase phase, double flops, std::initializer_list<Tensor> operands)
    : profile_(exec.profile) {
    if (profile_ == nullptr) return;
    OpRecord record{op, phase, operands.begin()->shape_text(), 0, 0, flops, 0};
    for (const Tensor& tensor : operands)
        if (tensor) record.bytes += static_cast<double>(tensor.bytes());
    profile_->records.push_back(std::move(record));
    begin_ = Clock::now();
}

OpTimer::~OpTimer() {
    if (profile_ == nullptr) return;
    OpRecord& record = profile_->records.back();
    record.seconds = seconds_since(begin_);
    record.start = std::chrono::duration<double>(begin_ - profile_->start).count();
}

}  // namespace deft::engine
