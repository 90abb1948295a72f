#pragma once
// The subcommands, one file each; those of deft bench are in bench_commands.h.

#include <CLI/CLI.hpp>

namespace deft::cli {

// State that a subcommand's callback leaves for main().
struct Context {
    int exit_code = 0;
};

// Each is declared and listed here; its group and its examples are in command_help.cpp.
void add_run(CLI::App& app, Context& context);
void add_init(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_status(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_trace(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_logs(CLI::App& app, Context& context);
void add_cancel(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_eval(CLI::App& app, Context& context);
void add_generate(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_data(CLI::App& app, Context& context);
void add_analyze(CLI::App& app, Context& context);
void add_keys(CLI::App& app, Context& context);
void add_config(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_profile(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_baseline(CLI::App& app, Context& context);
void add_db(CLI::App& app, Context& context);
void add_tune(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_help(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);
void add_man(CLI::App& app, Context& context);
void add_debug_state(CLI::App& app, Context& context);
void add_trial(CLI::App& app, Context& context);  // internal: what a slot runs
void add_job(CLI::App& app, Context& context);    // internal: what a Slurm job runs

// In the order of the complete list of commands.
inline constexpr void (*kCommands[])(CLI::App& app, Context& context) = {
    add_run,     add_init,   add_plan,   add_status,     add_show,     add_trace,       add_compare,  add_logs,
    add_cancel,  add_report, add_serve,  add_eval,       add_generate, add_import,      add_export,   add_data,
    add_analyze, add_keys,   add_config, add_bench,      add_profile,  add_check,       add_baseline, add_db,
    add_tune,    add_doctor, add_help,   add_completion, add_man,      add_debug_state, add_trial,    add_job};

void add_check_quality(CLI::App& check, Context& context);  // deft check quality
void add_check_trend(CLI::App& check, Context& context);    // deft check trend
void add_check_claims(CLI::App& check, Context& context);   // deft check claims

}  // namespace deft::cli
