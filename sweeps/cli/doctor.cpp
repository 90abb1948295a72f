// deft doctor: what was found here, what is missing, and what that means.

#include "base/json.h"
#include "sweeps/cli/doctor_checks.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/provenance.h"

namespace deft::cli {

void add_doctor(CLI::App& app, Context& context) {
    struct Arguments {
        std::string root = "deft-runs";
        bool json = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("doctor", "Say what this machine and build offer, and what they lack");
    command->add_option("--root", arguments->root, "Where results would go")->capture_default_str();
    command->add_flag("--json", arguments->json, "For programs");
    command->callback([arguments, &context] {
        const std::vector<sweeps::Finding> findings = sweeps::examine(arguments->root);
        print(arguments->json ? sweeps::to_json(findings).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                              : sweeps::version_text() + "\n\n" + sweeps::render(findings, output_width()));
        const bool lacks = std::any_of(findings.begin(), findings.end(), [](const sweeps::Finding& finding) {
            return finding.state == sweeps::Finding::State::missing;
        });
        if (lacks) context.exit_code = kExitFailed;
    });
}

}  // namespace deft::cli
