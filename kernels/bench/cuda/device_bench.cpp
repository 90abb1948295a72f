#include "kernels/bench/cuda/device_bench.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/bench/cpu_peaks.h"

namespace deft::kernels::cuda {

namespace {

using cases::Activations;
using cases::Arguments;
using cases::GuardedBytes;
using cases::OpCase;

template <class Real>
auto run_of(const OpCase& op) {
    if constexpr (std::is_same_v<Real, bf16>)
        return op.cuda_bf16;
    else
        return op.cuda_f32;
}

// Copies of an op's arguments in one piece of device memory, taken one after the other.
template <class Real>
class DeviceRing {
 public:
    DeviceRing(DeviceTimer& timer, OpCase op)
        : op_(std::move(op)), run_(run_of<Real>(op_)), workspace_(allocate(op_.cuda_workspace())) {
        exec_ = timer.exec();
        exec_.workspace = {static_cast<std::byte*>(workspace_.get()), op_.cuda_workspace()};
        std::vector<std::size_t> offsets;
        std::size_t bytes = 0;  // of a copy
        for (const cases::Buffer& buffer : op_.buffers) {
            offsets.push_back(bytes);
            const std::size_t needed = cases::stored_bytes<Real>(buffer);
            footprint_ += static_cast<double>(needed);
            bytes += (needed + kAlignment - 1) / kAlignment * kAlignment;
        }
        const std::size_t copies = ring_copies(footprint_, static_cast<double>(timer.cache_bytes()));
        memory_.reset(allocate(copies * bytes));
        auto* const first = static_cast<std::byte*>(memory_.get());
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            const GuardedBytes stored = cases::store_buffer<Real>(op_.buffers[i]);
            copy_to_device(exec_, first + offsets[i], stored.data(), stored.size());
        }
        for (std::size_t copy = 0; copy < copies; ++copy) {
            if (copy > 0) copy_on_device(exec_, first + copy * bytes, first, bytes);
            std::vector<void*>& data = data_.emplace_back();
            for (const std::size_t offset : offsets) data.push_back(first + copy * bytes + offset);
        }
        for (cases::Buffer& buffer : op_.buffers) {  // they are stored; the table's own values would stay in memory
            buffer.value.clear();
            buffer.value.shrink_to_fit();
        }
        synchronise(exec_);
    }
    double footprint() const { return footprint_; }
    void run_same() { run_(exec_, Arguments<Real>(op_.buffers, data_[0])); }
    void run_next() {
        run_(exec_, Arguments<Real>(op_.buffers, data_[next_]));
        next_ = (next_ + 1) % data_.size();
    }

 private:
    static constexpr std::size_t kAlignment = 256;
    OpCase op_;
    std::function<void(Exec&, const Arguments<Real>&)> run_;
    Exec exec_;
    double footprint_ = 0;
    DeviceMemory workspace_, memory_;
    std::vector<std::vector<void*>> data_;  // (copies, buffers)
    std::size_t next_ = 0;
};

template <class Real>
class DeviceRows {
 public:
    DeviceRows(DeviceTimer& timer, OpCase op) : timer_(timer), ring_(timer, std::move(op)) {}

    double footprint() const { return ring_.footprint(); }
    DeviceInterval interval(CacheState state) {
        const auto same = [this] { ring_.run_same(); };
        if (state == CacheState::cold) return {timer_.cold(same), 1};
        const bool hot = state == CacheState::hot;
        const DeviceTimer::Run run = hot ? DeviceTimer::Run(same) : [this] { ring_.run_next(); };
        std::int64_t& runs = hot ? hot_runs_ : rotating_runs_;
        if (runs == 0) runs = timer_.runs_of_an_interval(run, hot);
        return {timer_.in_a_row(run, runs, hot), runs};
    }

 private:
    DeviceTimer& timer_;
    DeviceRing<Real> ring_;
    std::int64_t hot_runs_ = 0, rotating_runs_ = 0;  // of an interval; 0: not known yet
};

template <class Real>
PreparedBench prepare(const std::shared_ptr<SharedTimer>& timer, OpCase op, Activations type) {
    PreparedBench prepared;
    prepared.flops = op.flops;
    prepared.bytes = type == Activations::bf16 ? op.bf16_bytes : op.bytes;
    prepared.wrong = cases::disagreement(timer->get().exec(), op, type);
    if (!prepared.wrong.empty()) return prepared;
    const auto rows = std::make_shared<DeviceRows<Real>>(timer->get(), std::move(op));
    prepared.footprint = rows->footprint();
    prepared.on_device = [timer, rows](CacheState state) { return rows->interval(state); };
    return prepared;
}

}  // namespace

BenchCase device_bench(std::shared_ptr<SharedTimer> timer, const OpCase& described, Activations type,
                       std::function<OpCase()> make) {
    const bool is_bf16 = type == Activations::bf16;
    BenchCase bench;
    bench.name = bench_name(described.name);
    bench.backend = is_bf16 ? kCudaBf16 : kCudaF32;
    bench.on_device = true;
    bench.flops = described.flops;
    bench.bytes = is_bf16 ? described.bf16_bytes : described.bytes;
    bench.prepare = [timer = std::move(timer), make = std::move(make), type](int) {
        return type == Activations::bf16 ? prepare<bf16>(timer, make(), type) : prepare<float>(timer, make(), type);
    };
    return bench;
}

}  // namespace deft::kernels::cuda
