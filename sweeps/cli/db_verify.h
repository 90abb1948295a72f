#pragma once
// deft db verify.

#include <CLI/CLI.hpp>

#include "sweeps/cli/commands.h"

namespace deft::cli {

void add_db_verify(CLI::App& db, Context& context);

}  // namespace deft::cli
