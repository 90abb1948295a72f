#include "kernels/bench/op_benches.h"

#include <cstddef>
#include <span>

#include "kernels/bench/cpu_peaks.h"
#include "kernels/bench/cuda/device_bench.h"
#include "kernels/cases/all.h"
#include "kernels/cases/run.h"

namespace deft::kernels {

namespace {

using cases::Arguments;
using cases::GuardedBytes;
using cases::OpCase;

// Copies of an op's arguments, taken one after the other.
class ArgumentRing {
 public:
    ArgumentRing(OpCase op, int threads, std::size_t copies) : op_(std::move(op)), workspace_(op_.workspace(threads)) {
        exec_.threads = threads;
        exec_.workspace = std::as_writable_bytes(std::span(workspace_.data(), workspace_.size()));
        for (std::size_t copy = 0; copy < copies; ++copy) {
            std::vector<void*> data;
            for (const cases::Buffer& buffer : op_.buffers)
                data.push_back(buffers_.emplace_back(cases::store_buffer<float>(buffer)).data());
            data_.push_back(std::move(data));
        }
        for (cases::Buffer& buffer : op_.buffers) {  // they are stored; the table's own values would stay in memory
            buffer.value.clear();
            buffer.value.shrink_to_fit();
        }
    }
    void run_same() { op_.cpu(exec_, Arguments<float>(op_.buffers, data_[0])); }
    void run_next() {
        op_.cpu(exec_, Arguments<float>(op_.buffers, data_[next_]));
        next_ = (next_ + 1) % data_.size();
    }

 private:
    OpCase op_;
    GuardedBytes workspace_;
    cpu::Exec exec_;
    std::vector<GuardedBytes> buffers_;
    std::vector<std::vector<void*>> data_;  // (copies, buffers)
    std::size_t next_ = 0;
};

double footprint_of(const OpCase& op) {
    double bytes = 0;
    for (const cases::Buffer& buffer : op.buffers) bytes += static_cast<double>(buffer.value.size()) * sizeof(float);
    return bytes;
}

PreparedBench prepare(OpCase op, int threads) {
    PreparedBench prepared;
    prepared.flops = op.flops;
    prepared.bytes = op.bytes;
    prepared.footprint = footprint_of(op);
    prepared.wrong = cases::disagreement(op, cases::run_cpu(op, threads));
    const std::size_t copies = ring_copies(prepared.footprint, static_cast<double>(last_level_cache_bytes()));
    const auto ring = std::make_shared<ArgumentRing>(std::move(op), threads, copies);
    prepared.hot = [ring] { ring->run_same(); };
    prepared.cold = [ring] { ring->run_next(); };
    return prepared;
}

using Table = std::shared_ptr<const cases::CaseTable>;

Table model_table() {
    return std::make_shared<const cases::CaseTable>(cases::case_table(cases::Sizes::model));
}

BenchCase cpu_bench(const OpCase& described, const Table& table, std::size_t i, std::uint64_t seed) {
    return BenchCase{bench_name(described.name), kCpu, described.flops, described.bytes,
                     [=](int threads) { return prepare(table->make(i, seed), threads); }};
}

}  // namespace

std::vector<BenchCase> op_benches(Table table, std::uint64_t seed, BenchBackends backends) {
    std::vector<BenchCase> benches;
    std::shared_ptr<cuda::SharedTimer> timer;
    if constexpr (cuda::kBuilt) timer = std::make_shared<cuda::SharedTimer>();
    for (std::size_t i = 0; i < table->size(); ++i) {
        const OpCase op = table->describe(i);
        if (op.cpu && backends != BenchBackends::cuda) benches.push_back(cpu_bench(op, table, i, seed));
        if constexpr (cuda::kBuilt)
            for (const auto type : {cases::Activations::f32, cases::Activations::bf16})
                if (backends != BenchBackends::cpu)
                    benches.push_back(cuda::device_bench(timer, op, type, [=] { return table->make(i, seed); }));
    }
    return benches;
}

std::vector<BenchCase> op_benches(std::uint64_t seed, BenchBackends backends) {
    return op_benches(model_table(), seed, backends);
}

std::optional<BenchCase> find_op_bench(const std::string& name, std::size_t place, std::uint64_t seed) {
    const Table table = model_table();
    for (std::size_t i = 0; i < table->size(); ++i) {
        const std::size_t at = (place + i) % table->size();
        const OpCase op = table->describe(at);
        if (op.cpu && bench_name(op.name) == name) return cpu_bench(op, table, at, seed);
    }
    return std::nullopt;
}

}  // namespace deft::kernels
