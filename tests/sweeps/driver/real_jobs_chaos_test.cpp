// Jobs of a real Slurm under random faults: of jobs, drivers, nodes, networks, the controller, accounting, and sbatch.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/stopwatch.h"
#include "tests/catch.h"
#include "tests/sweeps/driver/real_slurm.h"

using namespace deft;
using namespace deft::test;

namespace {

// An sbatch that submits, and does not answer where its folder has the file `late`.
class LateSbatch {
 public:
    LateSbatch() {
        write_file_atomically(folder_ / "sbatch",
                              "#!/bin/bash\n"
                              "case \" $* \" in *\" --parsable \"*) ;; *) exec /usr/bin/sbatch \"$@\" ;; esac\n"
                              "if mv \"${0%/*}/late\" \"${0%/*}/met.$$\" 2> /dev/null; then\n"
                              "    /usr/bin/sbatch \"$@\" > /dev/null\n    exec sleep 60\nfi\n"
                              "exec /usr/bin/sbatch \"$@\"\n");
        std::filesystem::permissions(folder_ / "sbatch", std::filesystem::perms::owner_all);
    }
    std::string path() const { return "PATH=" + folder_.path().string() + ":/usr/bin:/bin:/usr/sbin:/sbin"; }
    void be_late() const { write_file_atomically(folder_ / "late", ""); }
    // Submissions that got no answer.
    std::size_t met() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
            count += entry.path().filename().string().starts_with("met.") ? 1 : 0;
        return count;
    }

 private:
    TemporaryFolder folder_;
};

// One node or daemon is broken at a time.
class ChaosOfJobs {
 public:
    ChaosOfJobs(const RealSlurm& slurm, const QueuedSweep& jobs, const LateSbatch& sbatch, bool has_accounting,
                std::size_t seed, std::size_t events)
        : slurm_(slurm), jobs_(jobs), sbatch_(sbatch), has_accounting_(has_accounting), random_(seed), left_(events) {}

    // Until the run has ended, by itself or by a signal.
    int run() {
        Process driver = jobs_.start();
        while (!sweeps::has_ended(driver.pid())) {
            repair();
            pause(20, left_ == 0 ? 50 : is_broken() ? 4000 : 1200);
            if (left_ > 0 && !sweeps::has_ended(driver.pid())) strike();
        }
        return driver.wait();
    }
    void finish_repair() {
        while (is_broken()) {
            repair();
            pause(100, 100);
        }
    }
    std::string text() const {
        std::string all;
        for (const auto& [kind, count] : counts_) all += fmt::format("{}{} {}", all.empty() ? "" : ", ", count, kind);
        return all;
    }
    std::size_t left() const { return left_; }
    int count(const std::string& kind) const {
        const auto found = counts_.find(kind);
        return found == counts_.end() ? 0 : found->second;
    }

 private:
    bool is_broken() const { return !broken_.empty() || !daemon_.empty(); }
    std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }
    void pause(int least_ms, int most_ms) {
        std::this_thread::sleep_for(
            std::chrono::milliseconds(std::uniform_int_distribution(least_ms, most_ms)(random_)));
    }

    // Slurm saves its state some seconds after it accepts a job. One that a killed controller forgets is submitted
    // again after ten minutes, which this test does not wait for.
    bool has_fresh_submission() const {
        std::error_code none;
        for (const auto& job : std::filesystem::directory_iterator(jobs_.sweep.root / "jobs", none)) {
            const auto time = std::filesystem::last_write_time(job.path() / "job.sh", none);
            if (!none && std::filesystem::file_time_type::clock::now() - time < std::chrono::seconds(8)) return true;
        }
        return false;
    }

    void strike() {
        enum class Fault { cancellation, death, departure, power, network, controller, accounting, submission };
        using enum Fault;
        static constexpr Fault kWhole[] = {cancellation, cancellation, death,     departure,  power,
                                           power,        network,      network,   controller, controller,
                                           submission,   accounting,   accounting},
                               kBroken[] = {cancellation, cancellation, death, departure};
        const std::size_t whole = std::size(kWhole) - (has_accounting_ ? 0 : 2);
        const Fault kind = is_broken() ? kBroken[below(std::size(kBroken))] : kWhole[below(whole)];
        const std::vector<RunningStep> running = running_trainings(jobs_.sweep);
        const char* name = nullptr;
        if (kind == death || kind == departure) {
            const pid_t driver = jobs_.driver();
            if (driver < 0) return;
            ::kill(driver, kind == death ? SIGKILL : SIGINT);
            name = kind == death ? "killed drivers" : "departed drivers";
        } else if (kind == controller || kind == accounting) {
            if (kind == controller && has_fresh_submission()) return;
            daemon_ = kind == controller ? "slurmctld" : "slurmdbd";
            run_process(slurm_.on_login({"pkill", "-KILL", "-x", daemon_}), std::chrono::seconds(60));
            repair_at_ = Clock::now() + std::chrono::milliseconds(below(5'000));
            name = kind == controller ? "killed controllers" : "killed slurmdbds";
        } else if (kind == submission) {
            if (sbatch_.met() < late_) return;  // the last one is still to come
            sbatch_.be_late();
            ++late_;
            name = "submissions without an answer";
        } else if (running.empty()) {
            return;
        } else if (kind == cancellation) {
            if (!slurm_.scancel(running[below(running.size())].job)) return;
            name = "cancelled jobs";
        } else {
            broken_ = running[below(running.size())].host;
            is_off_ = kind == power;
            slurm_.host(is_off_ ? "off" : "unplug", broken_);
            repair_at_ = Clock::now() + std::chrono::milliseconds(500 + below(14'000));
            name = is_off_ ? "power failures" : "cut networks";
        }
        ++counts_[name];
        --left_;
    }

    // A node has its power again once Slurm has noticed the failure; the rest comes back after a random time.
    void repair() {
        if (!daemon_.empty() && Clock::now() > repair_at_) {
            run_process(slurm_.on_login({daemon_}), std::chrono::seconds(60));
            daemon_.clear();
        }
        if (broken_.empty() || (is_off_ ? !slurm_.is_down(broken_) : Clock::now() < repair_at_)) return;
        slurm_.host(is_off_ ? "boot" : "plug", broken_);
        broken_.clear();
    }

    const RealSlurm& slurm_;
    const QueuedSweep& jobs_;
    const LateSbatch& sbatch_;
    bool has_accounting_;
    std::mt19937 random_;
    std::size_t left_;
    std::map<std::string, int> counts_;
    std::string broken_;  // the node without power or network
    std::string daemon_;  // that was killed
    bool is_off_ = false;
    std::size_t late_ = 0;
    Clock::time_point repair_at_{};
};

}  // namespace

TEST_CASE("Random faults of a real Slurm lose no job and change no bit", "[slow][cluster][faults][bare]") {
    const bool has_accounting = GENERATE(false, true);
    CAPTURE(has_accounting);
    const RealSlurm slurm(has_accounting);
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const std::size_t events = number_of("DEFT_CHAOS_EVENTS", 12), seed = number_of("DEFT_CHAOS_SEED", 1);
    std::string seeds = "[1";
    for (std::size_t i = 2; i <= std::max<std::size_t>(8, events * 6 / 10); ++i) seeds += fmt::format(", {}", i);
    seeds += "]";
    const std::string recipe = saving_recipe(400'000);
    const LateSbatch sbatch;
    QueuedSweep jobs(slurm, recipe, seeds);
    jobs.variables = {sbatch.path()};
    ChaosOfJobs chaos(slurm, jobs, sbatch, has_accounting, seed, events);
    std::vector<int> codes;
    do {
        codes.push_back(chaos.run());
        UNSCOPED_INFO(fmt::format("run {} gave {}\n{}", codes.size(), codes.back(), read_file(jobs.sweep.err())));
    } while (codes.back() != 0 && codes.size() < 5 * events);
    chaos.finish_repair();
    std::printf("seed %zu, accounting %s: %s; %zu runs\n", seed, has_accounting ? "on" : "off", chaos.text().c_str(),
                codes.size());
    for (const std::string& end :
         jobs.sweep.query("SELECT kind, state, fail_class, count(*) FROM attempt GROUP BY 1, 2, 3", 4))
        std::printf("  %s\n", end.c_str());

    CHECK(codes.back() == 0);
    CHECK(chaos.left() <= events / 2);  // a sweep may end before all have come
    CHECK(jobs.sweep.value("SELECT count(DISTINCT experiment_id) FROM attempt WHERE kind = 'train' AND state = 'ok'") ==
          jobs.sweep.value("SELECT count(*) FROM experiment"));
    CHECK(
        jobs.sweep.value("SELECT count(*) FROM (SELECT experiment_id FROM attempt WHERE kind = 'train' AND state = 'ok'"
                         " GROUP BY experiment_id HAVING count(*) > 1)") == "0");
    UNSCOPED_INFO(all_ends(jobs.sweep));
    // A driver that is killed between its record and sbatch leaves a stale attempt. A controller that is killed forgets
    // what it has not saved: the end of a job has no reason then, or only the signal that came before it. An end that
    // slurmdbd did not hear has no reason, either, where the next driver begins after the queue has dropped the job.
    std::string forgotten;
    if (chaos.count("killed controllers") + chaos.count("killed slurmdbds") > 0) forgotten += ", 'other'";
    if (chaos.count("killed controllers") > 0) forgotten += ", 'timeout'";
    CHECK(jobs.sweep.query("SELECT DISTINCT state, fail_class FROM attempt WHERE state != 'ok' AND fail_class NOT IN"
                           " ('node', 'user', 'preempt', 'stale'" +
                               forgotten + ")",
                           2) == std::vector<std::string>{});
    CHECK(jobs.sweep.measured() == local_bits(recipe, seeds));
}
