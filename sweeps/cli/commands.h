#pragma once
// The subcommands, one file each; those of deft bench are in bench_commands.h.

#include <CLI/CLI.hpp>

namespace deft::cli {

// State that a subcommand's callback leaves for main().
struct Context {
    int exit_code = 0;
};

void add_run(CLI::App& app, Context& context);
void add_init(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_status(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_trace(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_logs(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_eval(CLI::App& app, Context& context);
void add_generate(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_data(CLI::App& app, Context& context);
void add_analyze(CLI::App& app, Context& context);
void add_config(CLI::App& app, Context& context);
void add_keys(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_check_quality(CLI::App& check, Context& context);  // deft check quality
void add_check_trend(CLI::App& check, Context& context);    // deft check trend
void add_check_claims(CLI::App& check, Context& context);   // deft check claims
void add_baseline(CLI::App& app, Context& context);
void add_db(CLI::App& app, Context& context);
void add_tune(CLI::App& app, Context& context);
void add_profile(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_help(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);
void add_man(CLI::App& app, Context& context);
void add_debug_state(CLI::App& app, Context& context);
void add_trial(CLI::App& app, Context& context);  // internal: what a slot runs

}  // namespace deft::cli
