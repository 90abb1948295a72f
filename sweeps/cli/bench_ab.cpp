// deft bench ab: two programs side by side. deft bench aa: this one beside itself. deft bench serve: one arm of either.

#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "sweeps/cli/bench_commands.h"
#include "sweeps/cli/comparison_options.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"
#include "sweeps/gate/bench_records.h"
#include "sweeps/gate/comparison_report.h"
#include "sweeps/gate/worker.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct AbArguments {
    std::string base, head;
    ComparisonOptions options;
    GateOptions gate;
};

struct AaArguments {
    ComparisonOptions options;
    std::string root = sweeps::kDefaultRoot;
    int rounds = 1;
};

fs::path this_program() {
    return fs::read_symlink("/proc/self/exe");
}

int compare_files(const AbArguments& arguments) {
    for (const std::string& file : {arguments.base, arguments.head})
        if (!fs::is_regular_file(file))
            throw Error(ErrorKind::usage, file + " is not a program file",
                        "deft bench ab compares files; for revisions see deft check bench");
    prepare_outputs(arguments.gate);
    const reporting::CheckReport report = compare_and_print(
        {fs::absolute(arguments.base), fs::absolute(arguments.head)}, {"A", "B"}, arguments.options, arguments.gate,
        {fmt::format("A: {}. B: {}. The ratio is B's time over A's.", arguments.base, arguments.head)});
    return finish_check(report, arguments.gate);
}

// Both programs are the same file, so whatever difference is found is noise of this machine and no regression.
int compare_with_itself(const AaArguments& arguments) {
    const sweeps::ComparedPrograms programs{this_program(), this_program()};
    sweeps::ComparisonSettings settings = settings_of(arguments.options);
    const sweeps::KnownArms arms = sweeps::know(programs, all_patterns(arguments.options));
    sweeps::BenchRecorder recorder(arguments.root);
    sweeps::ProgressLine line;
    std::vector<sweeps::ComparedCase> cases;
    const sweeps::ComparisonSettings first = settings;
    for (int round = 0; round < arguments.rounds; ++round, ++settings.seed) {
        std::vector<sweeps::ComparedCase> measured = sweeps::compare(
            programs, arms.cases, settings,
            [&](const std::string& what, double done) { line.show(what, (round + done) / arguments.rounds); });
        recorder.record(measured, arms, settings);
        cases.insert(cases.end(), measured.begin(), measured.end());
    }
    line.clear();
    reporting::Table table = sweeps::comparison_table(cases, {"this program", "itself"}, first);
    const std::vector<std::string> noise = sweeps::noise_notes(cases, first);
    table.notes.insert(table.notes.begin(), noise.begin(), noise.end());
    print(table);
    print(fmt::format("samples: {}", recorder.file().string()));
    const int code = reporting::exit_code_of(sweeps::findings_of(cases, {}, first), false);
    return code == kExitWorse ? kExitOk : code;
}

}  // namespace

Run bench_ab(CLI::App& command) {
    auto arguments = std::make_shared<AbArguments>();
    command.add_option("A", arguments->base, "The program file to compare with")->required();
    command.add_option("B", arguments->head, "The program file that may be slower")->required();
    add_comparison_options(command, arguments->options);
    add_gate_options(command, arguments->gate);
    return [arguments] { return compare_files(*arguments); };
}

Run bench_aa(CLI::App& command) {
    auto arguments = std::make_shared<AaArguments>();
    add_number(command, "--rounds", arguments->rounds, "Comparisons of each case", 1, 10000);
    add_comparison_options(command, arguments->options);
    add_root(command, arguments->root);
    return [arguments] { return compare_with_itself(*arguments); };
}

Run bench_serve(CLI::App& command) {
    auto threads = std::make_shared<int>(1);
    add_threads(command, *threads);
    return [threads] {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a frozen worker would outlive the program that talks with it
        sweeps::serve_benches(std::cin, std::cout, *threads);
        return kExitOk;
    };
}

}  // namespace deft::cli
