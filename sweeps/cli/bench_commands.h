#pragma once
// The commands of deft bench. bench.cpp has them in one table.

#include <CLI/CLI.hpp>
#include <functional>

namespace deft::cli {

// A command's work once its options are read; returns the exit code.
using Run = std::function<int()>;

// Each declares its options.
Run bench_step(CLI::App& command);
Run bench_startup(CLI::App& command);
Run bench_slots(CLI::App& command);
Run bench_list(CLI::App& command);
Run bench_run(CLI::App& command);
Run bench_ab(CLI::App& command);
Run bench_aa(CLI::App& command);
Run bench_import(CLI::App& command);
Run bench_history(CLI::App& command);
Run bench_gpu(CLI::App& command);
Run bench_analyzer(CLI::App& command);
Run bench_generate(CLI::App& command);
Run bench_moe_inference(CLI::App& command);
Run bench_experts(CLI::App& command);
Run bench_ranks(CLI::App& command);
// Internal: the processes that others of them start.
Run bench_serve(CLI::App& command);
Run bench_step_worker(CLI::App& command);

}  // namespace deft::cli
