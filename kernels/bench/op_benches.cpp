#include "kernels/bench/op_benches.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "kernels/bench/peak_memory.h"
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
    constexpr double kMostCopies = 4096;
    PreparedBench prepared;
    prepared.flops = op.flops;
    prepared.bytes = op.bytes;
    prepared.footprint = footprint_of(op);
    prepared.wrong = cases::disagreement(op, cases::run_cpu(op, threads));
    const double copies =
        std::ceil(3 * static_cast<double>(last_level_cache_bytes()) / std::max(1.0, prepared.footprint)) + 1;
    const auto ring =
        std::make_shared<ArgumentRing>(std::move(op), threads, static_cast<std::size_t>(std::min(copies, kMostCopies)));
    prepared.hot = [ring] { ring->run_same(); };
    prepared.cold = [ring] { ring->run_next(); };
    return prepared;
}

std::string bench_name(std::string name) {
    std::replace(name.begin(), name.end(), ' ', '/');
    return name;
}

std::shared_ptr<cases::CaseTable> model_table() {
    return std::make_shared<cases::CaseTable>(cases::case_table(cases::Sizes::model));
}

// Nothing for an op without CPU code.
std::optional<BenchCase> bench_of(const std::shared_ptr<cases::CaseTable>& table, std::size_t i, std::uint64_t seed) {
    const OpCase op = table->describe(i);
    if (!op.cpu) return std::nullopt;
    return BenchCase{bench_name(op.name), "cpu", op.flops, op.bytes,
                     [=](int threads) { return prepare(table->make(i, seed), threads); }};
}

}  // namespace

std::vector<BenchCase> op_benches(std::uint64_t seed) {
    const auto table = model_table();
    std::vector<BenchCase> benches;
    for (std::size_t i = 0; i < table->size(); ++i)
        if (std::optional<BenchCase> bench = bench_of(table, i, seed)) benches.push_back(std::move(*bench));
    return benches;
}

std::optional<BenchCase> find_op_bench(const std::string& name, std::size_t place, std::uint64_t seed) {
    const auto table = model_table();
    for (std::size_t i = 0; i < table->size(); ++i) {
        std::optional<BenchCase> bench = bench_of(table, (place + i) % table->size(), seed);
        if (bench && bench->name == name) return bench;
    }
    return std::nullopt;
}

}  // namespace deft::kernels
