// deft db: care of the results database itself.

#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "results_db/open.h"
#include "results_db/store.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/driver.h"

namespace deft::cli {

namespace {

int upgrade(const std::string& root) {
    const std::filesystem::path file = sweeps::database_file(root);
    const std::int64_t found = results_db::schema_version(file), newest = results_db::migrations().back().version;
    if (found == newest) {
        print(fmt::format("{} has schema version {}, the newest.", file.string(), newest));
        return kExitOk;
    }
    { const results_db::Writer migrates(file); }
    print(fmt::format("{}: schema version {} became {}. As it was: {}", file.string(), found, newest,
                      results_db::backup_of(file, found).string()));
    return kExitOk;
}

}  // namespace

void add_db(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("db", "Care of the results database");
    command->require_subcommand(1);
    auto root = std::make_shared<std::string>(sweeps::kDefaultRoot);
    CLI::App* upgrading = command->add_subcommand(
        "upgrade", "Copy a database that an older deft left, and bring it to the newest schema");
    add_root(*upgrading, *root);
    upgrading->callback([root, &context] { context.exit_code = upgrade(*root); });
}

}  // namespace deft::cli
