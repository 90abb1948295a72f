// deft check bench: is a commit slower than another? Exit codes distinguish worse, broken, inconclusive and unmeasured.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "reporting/analysis/check/check_report.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/comparison_options.h"
#include "sweeps/cli/output.h"
#include "sweeps/gate/bench_cases.h"
#include "sweeps/gate/comparison_report.h"
#include "sweeps/gate/preset_steps.h"
#include "sweeps/gate/revision_build.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct CheckArguments {
    std::string base, head;
    std::string checkout = ".";
    ComparisonOptions options;
    GateOptions gate;
};

const sweeps::ComparisonNames kNames{"BASE", "HEAD"};

struct Revision {
    fs::path program;
    std::string hash;  // empty: the running program
    std::string name;
    std::string broken;  // why it does not build; empty: it does
};

void narrate(const std::string& what) {
    print_note(what);
}

// Without its program, which takes minutes to build.
Revision resolved(const fs::path& checkout, const std::string& revision, std::vector<std::string>& notes) {
    if (revision == ".") return {"", "", "this program", ""};
    const std::string hash = sweeps::resolve_revision(checkout, revision);
    if (sweeps::has_changes(checkout) && hash == sweeps::resolve_revision(checkout, "HEAD"))
        notes.push_back(
            fmt::format("The checkout has changes that are not in {}: the commit was measured. Give . for "
                        "the program that is running.",
                        revision));
    return {"", hash, revision, ""};
}

void build(const fs::path& checkout, Revision& revision) {
    if (revision.hash.empty()) {
        revision.program = fs::read_symlink("/proc/self/exe");
        return;
    }
    try {
        revision.program = sweeps::build_revision(checkout, revision.hash, sweeps::build_cache(), narrate);
    } catch (const sweeps::BuildFailed& failed) {
        narrate(failed.what());
        revision.broken = failed.reason();
    }
}

std::string describe(const Revision& revision) {
    return revision.name + (revision.hash.empty() ? "" : " (" + short_hash(revision.hash) + ")");
}

// Reports the commits that do not build, which CI must see although nothing was timed.
reporting::CheckReport report_builds(const Revision& base, const Revision& head, const GateOptions& gate) {
    std::vector<reporting::Judged> judged;
    if (!head.broken.empty())
        judged.push_back(sweeps::judged_build({sweeps::Side::head, head.hash, head.broken}, kNames));
    if (!base.broken.empty())
        judged.push_back(sweeps::judged_build({sweeps::Side::base, base.hash, base.broken}, kNames));
    const reporting::CheckReport report = sweeps::comparison_report(judged, kNames);
    record_and_print(report, reporting::check_table(report, report.findings.size()), judged, "{}", gate);
    return report;
}

// Refuses arms that cannot be compared, before minutes of building.
void refuse_early(const std::vector<std::string>& patterns) {
    std::vector<std::string> names;
    for (const kernels::BenchCase& bench : sweeps::chosen_benches(patterns, kernels::BenchBackends::cpu))
        names.push_back(bench.name);
    sweeps::require_memory_of_cases(names, 2);
}

int check_bench(const CheckArguments& arguments) {
    refuse_early(all_patterns(arguments.options));
    prepare_outputs(arguments.gate);
    const bool needs_checkout = arguments.base != "." || arguments.head != ".";
    const fs::path checkout = needs_checkout ? sweeps::checkout_of(arguments.checkout) : fs::path();
    std::vector<std::string> notes;
    Revision base = resolved(checkout, arguments.base, notes), head = resolved(checkout, arguments.head, notes);
    for (Revision* revision : {&base, &head}) build(checkout, *revision);
    if (!base.broken.empty() || !head.broken.empty())
        return finish_check(report_builds(base, head, arguments.gate), arguments.gate);
    notes.push_back(
        fmt::format("BASE: {}. HEAD: {}. The ratio is HEAD's time over BASE's.", describe(base), describe(head)));
    const reporting::CheckReport report = compare_and_print({base.program, head.program}, kNames, arguments.options,
                                                            arguments.gate, notes, base.hash, head.hash);
    return finish_check(report, arguments.gate);
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("check", "Gates for continuous integration");
    command->require_subcommand(1);
    auto arguments = std::make_shared<CheckArguments>();
    CLI::App* bench = command->add_subcommand("bench", "Is HEAD slower than BASE?");
    bench->add_option("BASE", arguments->base, "The git revision to compare with; . is the running program")
        ->required();
    bench->add_option("HEAD", arguments->head, "The git revision that may be slower")->required();
    bench->add_option("--checkout", arguments->checkout, "A checkout that has both")->capture_default_str();
    add_comparison_options(*bench, arguments->options);
    add_gate_options(*bench, arguments->gate);
    bench->callback([arguments, &context] { context.exit_code = check_bench(*arguments); });
    add_check_quality(*command, context);
    add_check_trend(*command, context);
    add_check_claims(*command, context);
}

}  // namespace deft::cli
