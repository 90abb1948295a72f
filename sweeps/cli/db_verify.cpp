#include "sweeps/cli/db_verify.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/verify_root.h"

namespace deft::cli {

namespace {

using results_db::FaultKind;

struct KindText {
    FaultKind kind;
    const char* name;  // in JSON
    const char* help;  // after the faults of the kind
};

constexpr KindText kKinds[] = {
    {FaultKind::database, "database",
     "copy the root first; then restore results.db from a copy, or move it away and let deft run take in the run "
     "folders"},
    {FaultKind::trial, "trial", "a row was changed by hand: restore results.db from a copy"},
    {FaultKind::journal, "journal", "restore the journal or results.db from a copy; the journal is what was measured"},
    {FaultKind::curve, "curve", "train the trial again in another root, and compare: deft run SWEEP --root OTHER"},
    {FaultKind::artifact, "artifact",
     "restore the file from a copy; deft run trains an unfinished trial from an earlier checkpoint or from the start"},
    {FaultKind::folder, "folder",
     "deft run of the folder's sweep takes in what trials without a result left; move away what no sweep needs"},
};

std::string totals(const sweeps::VerifiedRoot& root, bool is_quick) {
    return fmt::format("{}, {}, {} beside their journals, {} of {} by {}", counted(root.trials, "trial"),
                       counted(root.attempts, "attempt"), counted(root.rows, "row"), counted(root.files, "file"),
                       reporting::binary_bytes(root.bytes), is_quick ? "size" : "SHA-256");
}

void print_faults(const std::string& folder, const sweeps::VerifiedRoot& root, bool is_quick) {
    for (const KindText& kind : kKinds) {
        bool is_first = true;
        for (const results_db::Fault& fault : root.faults) {
            if (fault.kind != kind.kind) continue;
            if (std::exchange(is_first, false)) print(fmt::format("{} faults", kind.name));
            print(fmt::format("  {}: {}", reporting::visible(fault.subject), reporting::visible(fault.what)));
        }
        if (!is_first) print(fmt::format("  help: {}", kind.help));
    }
    print(fmt::format("{}: {} in {}", folder,
                      root.faults.empty() ? "no faults" : counted(std::ssize(root.faults), "fault"),
                      totals(root, is_quick)));
    if (root.live > 0)
        print_note(fmt::format("{} under way, or left by a killed driver: deft run SWEEP goes on with them",
                               counted(root.live, "attempt is", "attempts are")));
    if (root.merged > 0)
        print_note(fmt::format("{} merged from other files, and without a journal here",
                               counted(root.merged, "attempt was", "attempts were")));
    if (root.former > 0)
        print_note(fmt::format("{} from a database of an older version: their journals were not compared",
                               counted(root.former, "attempt is", "attempts are")));
}

void print_json(const std::string& folder, const sweeps::VerifiedRoot& root, bool is_quick) {
    Json faults = Json::array();
    for (const results_db::Fault& fault : root.faults)
        for (const KindText& kind : kKinds)
            if (kind.kind == fault.kind)
                faults.push_back({{"kind", kind.name}, {"subject", fault.subject}, {"what", fault.what}});
    const Json json = {
        {"schema", "deft-verify/1"}, {"root", folder},      {"quick", is_quick},     {"trials", root.trials},
        {"attempts", root.attempts}, {"live", root.live},   {"merged", root.merged}, {"former", root.former},
        {"rows", root.rows},         {"files", root.files}, {"bytes", root.bytes},   {"faults", faults}};
    print_exact(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

void add_db_verify(CLI::App& db, Context& context) {
    struct Arguments {
        std::string root = sweeps::kDefaultRoot;
        std::string format = "term";
        bool is_quick = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = db.add_subcommand(
        "verify", "Compare the database with its rules, journals, checkpoints and files; change nothing");
    add_root(*command, arguments->root);
    command->add_flag("--quick", arguments->is_quick,
                      "Compare recorded files by size, and checkpoints by the presence of their files");
    command->add_option("--format", arguments->format, "The format: term, or json (schema deft-verify/1)")
        ->check(CLI::IsMember({"term", "json"}))
        ->capture_default_str();
    add_json_flag(*command, arguments->format);
    command->callback([arguments, &context] {
        const auto depth = arguments->is_quick ? sweeps::VerifyDepth::quick : sweeps::VerifyDepth::whole;
        const sweeps::VerifiedRoot found = sweeps::verify_root(arguments->root, depth);
        arguments->format == "json" ? print_json(arguments->root, found, arguments->is_quick)
                                    : print_faults(arguments->root, found, arguments->is_quick);
        context.exit_code = found.faults.empty() ? kExitOk : kExitFailed;
    });
}

}  // namespace deft::cli
