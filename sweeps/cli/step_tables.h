#pragma once
// The measurements of deft bench step, as people read them.

#include <optional>
#include <string>
#include <vector>

#include "engine/bench/step.h"
#include "kernels/bench/run_benchmarks.h"
#include "reporting/table.h"
#include "sweeps/gate/interleaved_rounds.h"

namespace deft::cli {

// "4,128,4,8192,128,16": layers, width, heads, vocabulary, length, batch.
std::string model_text(const engine::StepBench& bench);

struct TorchNote {
    std::string version, blas, compile_failure;
    double gemm_flops = 0;
};

struct StepTimes {
    struct Row {
        std::string name;
        double flops = 0;
        std::vector<double> seconds;       // a step, of each round
        double tokens = 0;                 // of a step, without padding
        std::optional<std::size_t> torch;  // whose step it is, by its place in `torches`; empty: ours
    };
    std::string model;
    std::vector<Row> rows;  // the baseline first
    // The cost of padding for a model whose baseline packs samples: the arms of padding_arms() after the baseline's.
    struct Padding {
        double share = 0;                  // of the rows of samples, each in one of its own
        std::size_t padded = 0, full = 0;  // rows of the table
    };
    std::optional<Padding> padding = {};
    std::vector<TorchNote> torches;
    double our_gemm_flops = 0;  // where there is a PyTorch
};

struct StepReport {
    std::vector<StepTimes> steps;
    kernels::Peaks peaks;
    bool is_avx2 = false;  // libraries were held to AVX2
};

reporting::Table step_table(const StepReport& report, int threads, const sweeps::RoundSettings& rounds);

// Without rows: the layers between first and last, with all tokens and with half of them under random-LTD; and the
// baseline's step alone on the machine and beside competing processes.
reporting::Table layer_table();
reporting::Table beside_table(int processes);

}  // namespace deft::cli
