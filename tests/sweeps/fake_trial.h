#pragma once
// A trial program of a few shell lines, and a sweep whose recipes say what it shall do.

#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/journal.h"
#include "base/sha256.h"
#include "results_db/reader.h"
#include "sweeps/driver/driver.h"
#include "tests/catch.h"
#include "tests/sweeps/files.h"

namespace deft::test {

inline constexpr const char* kScript = R"sh(#!/bin/bash
here=$(dirname "$0")
folder="$2"
journal="$folder/journal.jsonl"
case_name=$(sed -n 's/^ *"case": "\(.*\)",*$/\1/p' "$folder/trial.json")
echo "running $case_name"
# A trial starts with SIGTERM blocked: it shows as pending to the process. (dash would unblock it.)
await_stop() { until grep -q '^ShdPnd:.*[4567cdef]...$' /proc/$$/status; do sleep 0.05; done; }
case "$case_name" in
    ok*) cat "$here/ok.jsonl" > "$journal" ;;
    cards*) echo "$CUDA_VISIBLE_DEVICES" > "$here/cards"; cat "$here/ok.jsonl" > "$journal" ;;
    nan*) echo "the loss is NaN"; cat "$here/nan.jsonl" > "$journal"; exit 1 ;;
    silent*) exit 0 ;;
    config*) echo "deft: error: no such model" >&2; exit 2 ;;
    killed*) cat "$here/started.jsonl" > "$journal"; kill -9 $$ ;;
    torn*) cat "$here/ok.jsonl" > "$journal"; printf '{"type":"tr' >> "$journal" ;;
    damaged*) printf '{"type":"sta\n' > "$journal"; cat "$here/ok.jsonl" >> "$journal" ;;
    once*) if [ -e "$here/tried" ]; then cat "$here/ok.jsonl" > "$journal"
           else touch "$here/tried"; echo boom; kill -9 $$; fi ;;
    slow*) if [ -e "$here/fast" ]; then cat "$here/ok.jsonl" > "$journal"
           else cat "$here/started.jsonl" > "$journal"; touch "$here/up"; sleep 60; fi ;;
    late*) cat "$here/ok.jsonl" > "$journal"; touch "$here/up"; sleep 60 ;;
    wait*) touch "$here/up"; while [ ! -e "$here/go" ]; do sleep 0.05; done; cat "$here/ok.jsonl" > "$journal" ;;
    stopped*) cat "$here/stopped.jsonl" > "$journal"
              if [ -e "$here/tried" ]; then cat "$here/ok.jsonl" > "$journal"; else touch "$here/tried"; exit 75; fi ;;
    stubborn*) touch "$here/up"; while :; do sleep 0.1; done ;;
    answers*) cat "$here/started.jsonl" "$here/training.jsonl" > "$journal"; touch "$here/up"; await_stop
             cat "$here/saving.jsonl" >> "$journal"; sleep 4; cat "$here/stopped.jsonl" >> "$journal"; exit 75 ;;
    aborts*) touch "$here/up"; await_stop; cat "$here/stopped.jsonl" > "$journal"; kill -ABRT $$ ;;
    hung*) if [ -e "$here/tried" ]; then cat "$here/ok.jsonl" > "$journal"
           else touch "$here/tried"; cat "$here/started.jsonl" "$here/short.jsonl" > "$journal"; sleep 60; fi ;;
    moody*) touch "$here/tried.$$"
            case $(ls "$here" | grep -c '^tried') in
                1 | 2) cat "$here/stopped.jsonl" > "$journal"; exit 75 ;;
                3) kill -9 $$ ;;
                *) cat "$here/ok.jsonl" > "$journal" ;;
            esac ;;
    delayed*) rm -f "$here/go" "$here/apart"
              setsid bash -c "touch '$here/apart'; until [ -e '$here/go' ]; do sleep 0.05; done
                              cat '$here/ok.jsonl' > '$journal'" &
              until [ -e "$here/apart" ]; do sleep 0.02; done ;;
    opens*) touch "$here/go"; cat "$here/ok.jsonl" > "$journal" ;;
    shrinks*) cat "$here/started.jsonl" > "$journal"; sleep 1.3; : > "$journal"; sleep 1.3; cat "$here/ok.jsonl" > "$journal" ;;
    cut*) cat "$here/started.jsonl" > "$journal"; sleep 1.3; : > "$journal" ;;
    left*) cat "$here/stopped.jsonl" > "$journal"; touch "$here/up"; sleep 60 ;;
esac
)sh";

// The exit status of a run that was started apart; the signal, negative, that ended it.
inline int wait_for_exit(pid_t pid) {
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class FakeSweep {
 public:
    // One trial a recipe, in one block of a single seed.
    explicit FakeSweep(const std::vector<std::string>& recipes) {
        const std::filesystem::path script = folder.write("trial.sh", kScript);
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
        options.root = folder.path / "root";
        options.trial_program = script;
        options.progress = sweeps::ProgressMode::plain;
        options.continue_with = "deft run fake.toml";
        options.late_journal_seconds = 0.3;
        spec.name = "fake";
        spec.sha256 = sha256("fake");
        spec.text = "name = \"fake\"\n";
        spec.seeds = {1};
        spec.baseline = recipes.front();
        spec.stages.emplace_back();
        spec.price = results_db::Price{"test-cpu", 0, 3.6, "a test"};
        for (const std::string& name : recipes) {
            spec.recipes.push_back({name, name, {}, {}});
            sweeps::Trial trial;
            trial.ordinal = static_cast<std::int64_t>(trials.size());
            trial.recipe = trial.label = name;
            trial.seed = trial.config.seed = 1;
            trial.seeds = {1};
            trial.config.data.embedded_bytes = 2000;
            trial.config.train.budget_tokens = 1000;  // none would be an imported model
            trial.config.train.micro_batch_size = trial.config.train.batch_size;
            experiments::resolve_data(trial.config);
            trial.config.checkpoint.grace_seconds = 0.3;
            trial.config.train.learning_rate = 1e-3 * static_cast<double>(1 + trials.size());  // each its own hash
            trial.config_hash = experiments::config_hash(trial.config);
            trial.variant_hash = experiments::variant_hash(trial.config);
            trial.projection.flops = 1e9;
            trials.push_back(trial);
        }
        write_journals();
    }

    // Runs it here, with what it says kept in `said`.
    sweeps::RunSummary run() {
        const std::filesystem::path file = folder.path / "said";
        options.narration = std::fopen(file.c_str(), "w");
        struct Close {
            FakeSweep& sweep;
            const std::filesystem::path& path;
            ~Close() {
                std::fclose(sweep.options.narration);
                sweep.said = read_file(path);
            }
        } close{*this, file};
        return sweeps::run_sweep(spec, trials, options);
    }

    // Runs it in a process of its own; its pid. The exit status is the run's.
    pid_t run_apart() {
        const pid_t child = ::fork();
        if (child != 0) return child;
        int code = 99;
        try {
            code = run().exit_code;
        } catch (const Error& error) {
            code = exit_code(error.kind());
        }
        ::_exit(code);
    }

    // For an attempt that goes on from a checkpoint after this many seconds, where any.
    static std::string journal_of(double resume_seconds, double train_seconds, const std::string& state) {
        journal::Started started;
        started.resume_step = resume_seconds > 0 ? 2 : 0;
        started.resume_seconds = resume_seconds;
        journal::TrainPoint point;
        point.step = resume_seconds > 0 ? 3 : 2;
        point.flops = 1e9;
        journal::Ended ended;
        ended.state = state;
        ended.train_seconds = train_seconds;
        ended.threads = 1;
        return to_json(started).dump() + "\n" + to_json(point).dump() + "\n" + to_json(ended).dump() + "\n";
    }

    bool exists(const std::string& name) const { return std::filesystem::exists(folder.path / name); }
    void touch(const std::string& name) const { folder.write(name, ""); }
    bool wait_for(const std::string& name) const {
        for (int i = 0; i < 1000; ++i) {
            if (exists(name)) return true;
            ::usleep(10'000);
        }
        return false;
    }

    results_db::StoredTrial row(std::size_t ordinal) const {
        return results_db::Reader(sweeps::database_file(options.root)).sweep("fake").trials.at(ordinal);
    }

    Folder folder;
    sweeps::Spec spec;
    std::vector<sweeps::Trial> trials;
    sweeps::DriverOptions options;
    std::string said;

 private:
    void write_journals() const {
        using namespace journal;
        Started started;
        started.time_ms = 1000;
        started.dataset_name = "fake corpus";
        started.dataset_sha256 = sha256("corpus");
        started.total_steps = 2;
        TrainPoint point;
        point.step = 2;
        point.flops = 1e9;
        point.wall_ms = 10;
        point.loss = 2.5;
        Ended ended;
        ended.time_ms = 2000;
        ended.state = "ok";
        ended.train_seconds = 10;
        ended.threads = 1;
        Ended failed = ended;
        failed.state = "failed";
        failed.fail_class = "nan";
        failed.error = "the loss is NaN at step 2";
        Ended stopped = ended;
        stopped.state = "stopped";
        const auto line = [](const auto& record) { return to_json(record).dump() + "\n"; };
        folder.write("started.jsonl", line(started));
        folder.write("training.jsonl", line(Lease{1000, 61'000, "training"}));
        folder.write("short.jsonl", line(Lease{1000, 1200, "training"}));
        folder.write("saving.jsonl", line(Lease{2000, 62'000, "saving a checkpoint"}));
        folder.write("ok.jsonl", line(started) + line(point) + line(ended));
        folder.write("stopped.jsonl", line(started) + line(point) + line(stopped));
        folder.write("nan.jsonl", line(started) + line(failed));
    }
};

}  // namespace deft::test
