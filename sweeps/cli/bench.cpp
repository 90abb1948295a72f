// deft bench: the table of its commands.

#include "sweeps/cli/bench_commands.h"
#include "sweeps/cli/commands.h"

namespace deft::cli {

namespace {

struct BenchCommand {
    const char *name, *help;
    Run (*declare)(CLI::App& command);
    bool is_internal = false;
};

constexpr BenchCommand kBenchCommands[] = {
    {"step", "Whole training steps, beside random-LTD, seqtru, the FMA peak and PyTorch, in interleaved rounds",
     bench_step},
    {"startup", "A trial's process: time to its first step, and what it costs beside its steps", bench_startup},
    {"slots", "Trials side by side on a thread each, against one on all threads", bench_slots},
    {"list",
     "The benchmark cases that there are: kernels, tokenizers, corpora, analyzer, sampler, scoring, reports, steps of "
     "presets",
     bench_list},
    {"run", "Time benchmark cases, hot and cold, beside this machine's roofline", bench_run},
    {"ab", "Compare two builds of this program, measured side by side", bench_ab},
    {"aa", "Compare this program with itself: the margin that this machine supports", bench_aa},
    {"import", "Take the JSON of any Google Benchmark program into the history", bench_import},
    {"history", "Each benchmark's times over the sessions, what changed first", bench_history},
    {"gpu", "Training steps of GPT-2 124M on a GPU", bench_gpu},
    {"analyzer", "Difficulty of samples, beside reading memory and NumPy", bench_analyzer},
    {"generate", "Generation of text, beside the memory's speed and transformers, in interleaved rounds",
     bench_generate},
    {"moe-inference",
     "A token's time and the weights it reads, with experts, without, and of the dense model of four times the weights",
     bench_moe_inference},
    {"experts", "A layer of experts beside the dense layer of equally many FLOPs, and both in PyTorch", bench_experts},
    {"ranks", "Data-parallel training on several ranks, beside threads and PyTorch's DistributedDataParallel",
     bench_ranks},
    {"serve", "Internal: one arm of a comparison", bench_serve, true},
    {"step-worker", "Internal: steps on request, in a process of slots or of ranks", bench_step_worker, true},
};

}  // namespace

void add_bench(CLI::App& app, Context& context) {
    CLI::App* bench = app.add_subcommand("bench", "Measure how fast this machine trains, tokenizes, reads and reports");
    bench->require_subcommand(1);
    for (const BenchCommand& one : kBenchCommands) {
        CLI::App* command = bench->add_subcommand(one.name, one.help);
        if (one.is_internal) command->group("");
        command->callback([run = one.declare(*command), &context] { context.exit_code = run(); });
    }
}

}  // namespace deft::cli
