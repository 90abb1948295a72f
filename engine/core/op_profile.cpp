#include "engine/core/op_profile.h"

#include "kernels/cuda/products.h"
#include "kernels/cuda/runtime.h"

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

OpProfile::OpProfile(Exec& exec) : exec_(exec), start_(now()) {
    if (product_log() != nullptr) product_log()->trace(true);
}

OpProfile::~OpProfile() {
    if (product_log() != nullptr) product_log()->trace(false);
}

kernels::cuda::ProductLog* OpProfile::product_log() const {
    return exec_.cuda.products == nullptr ? nullptr : &exec_.cuda.products->log;
}

OpProfile::Moment OpProfile::now() const {
    if constexpr (kernels::cuda::kBuilt)
        if (exec_.device == Device::cuda) {
            Moment moment{{}, std::make_shared<kernels::cuda::Event>()};
            moment.event->record(exec_.cuda);
            return moment;
        }
    return {Clock::now(), nullptr};
}

double OpProfile::seconds_between(const Moment& first, const Moment& last) {
    if constexpr (kernels::cuda::kBuilt)
        if (last.event) return kernels::cuda::seconds_between(*first.event, *last.event);
    return std::chrono::duration<double>(last.host - first.host).count();
}

double OpProfile::finish() {
    const double seconds = seconds_between(start_, now());
    for (std::size_t i = 0; i < records.size(); ++i) {
        records[i].start = seconds_between(start_, begins_[i]);
        records[i].seconds = seconds_between(begins_[i], ends_[i]);
    }
    return seconds;
}

OpTimer::OpTimer(Exec& exec, const char* op, Phase phase, const Tensor& out, DType dtype, const kernels::Work& work)
    : profile_(exec.profile) {
    if (profile_ == nullptr) return;
    const double bytes = work.bytes(size_of(dtype), size_of(sum_dtype(dtype)));
    profile_->records.push_back({op, phase, out.shape_text(), 0, 0, work.flops, bytes, {}});
    if (profile_->product_log() != nullptr) first_product_ = profile_->product_log()->traced();
    profile_->begins_.push_back(profile_->now());
}

OpTimer::~OpTimer() {
    if (profile_ == nullptr) return;
    profile_->ends_.push_back(profile_->now());
    if (profile_->product_log() != nullptr)
        profile_->records.back().products = profile_->product_log()->calls_since(first_product_);
}

}  // namespace deft::engine
