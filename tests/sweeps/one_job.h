#pragma once
// A Slurm job of a fake trial, and a launcher that looks at it often.

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "sweeps/driver/slurm_launcher.h"
#include "tests/catch.h"
#include "tests/sweeps/fake_cluster.h"
#include "tests/sweeps/files.h"

namespace deft::test {

inline constexpr const char* kForever = "while :; do sleep 0.1; done\n";

// A launcher that asks often and does not wait long, and an attempt of a fake trial.
class OneJob {
 public:
    // `answer`: seconds for each of Slurm's commands, enough on a busy machine where none hangs.
    explicit OneJob(const std::string& script, double answer = 30, const sweeps::SlurmSettings& settings = {})
        : cluster(folder) {
        run = folder.path / "root" / "runs" / "abc.1";
        std::filesystem::create_directories(run);
        folder.write("trial", "#!/bin/bash\n[ \"$1\" = job ] && exec " DEFT_PROGRAM " \"$@\"\n" + script);
        std::filesystem::permissions(folder.path / "trial", std::filesystem::perms::owner_all);
        patience.submit = patience.question = answer;
        patience.between = 0.05;
        patience.agreement = 0.5;
        patience.lost = 1;
        patience.again = 0.5;
        launcher = sweeps::make_slurm_launcher(settings, patience);
    }

    // The first is submitted at once; others share jobs.
    sweeps::RunId start(const std::string& name = "abc.1") {
        const std::filesystem::path attempt = run.parent_path() / name;
        std::filesystem::create_directories(attempt);
        const sweeps::RunId id =
            launcher->start({attempt, {(folder.path / "trial").string(), "trial", attempt.string()}, {}, 1, 0, 60});
        if (id == 1) launcher->submit(false);
        return id;
    }
    std::filesystem::path job_folder() const { return folder.path / "root" / "jobs" / "abc.1"; }

    // The status once the condition holds, or after ten seconds.
    sweeps::RunStatus look_until(const std::function<bool(const sweeps::RunStatus&)>& condition) const {
        sweeps::RunStatus last;
        for (int i = 0; i < 200; ++i) {
            for (const auto& [id, status] : launcher->look()) last = status;
            if (condition(last)) return last;
            ::usleep(50'000);
        }
        FAIL_CHECK("the launcher does not see that");
        return last;
    }
    sweeps::RunStatus look_until_ended() const {
        return look_until([](const auto& status) { return status.phase == sweeps::RunPhase::ended; });
    }
    sweeps::RunPhase phase_after_a_while() const {
        ::usleep(300'000);
        sweeps::RunPhase phase = sweeps::RunPhase::ended;
        for (const auto& [id, status] : launcher->look()) phase = status.phase;
        return phase;
    }

    Folder folder;
    Cluster cluster;
    std::filesystem::path run;
    sweeps::SlurmPatience patience;
    std::unique_ptr<sweeps::Launcher> launcher;
};

}  // namespace deft::test
