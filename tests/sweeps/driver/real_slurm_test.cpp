// Sweeps in the jobs of a real Slurm whose nodes, networks and drivers fail.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "base/stopwatch.h"
#include "tests/catch.h"
#include "tests/sweeps/driver/real_slurm.h"

using namespace deft;
using namespace deft::test;
using namespace std::chrono_literals;

namespace {

// Trials of a few seconds, which save checkpoints on the way.
std::string recipes(std::int64_t tokens) {
    std::string text = "[defaults.checkpoint]\nevery_seconds = 0.2\n";
    for (const auto& [name, rate] : {std::pair{"slow", "1e-3"}, {"fast", "2e-3"}})
        text += fmt::format("[[case]]\nname = \"{}\"\n[case.train]\nlearning_rate = {}\nbudget_tokens = {}\n", name,
                            rate, long_tokens(tokens));
    return text;
}
const std::string kShort = recipes(100'000), kMedium = recipes(200'000), kLong = recipes(400'000);

using Rows = std::vector<std::string>;

// Compares the bits with a run on this machine, and names the first difference.
void check_bits(const SweepInJobs& jobs, const std::string& recipes, const std::string& seeds) {
    const Rows ours = jobs.sweep.measured(), local = local_bits(recipes, seeds);
    CHECK(ours.size() == local.size());
    const auto [one, other] = std::ranges::mismatch(ours, local);
    CHECK((one == ours.end() ? "equal" : *one) == (other == local.end() ? "equal" : *other));
}

}  // namespace

TEST_CASE("The layout of a job of a real Slurm does not reach its steps", "[slow][cluster][faults][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    SweepInJobs jobs(slurm, kShort, "[1, 2]", 1);
    // Slurm's own variables, and some that srun would refuse a step of one task for.
    jobs.allocation = {"-N2", "--ntasks-per-node=2", "--gres=gpu:2", "--distribution=cyclic", "--hint=nomultithread"};
    jobs.variables = {"SLURM_GPUS_PER_TASK=1", "SLURM_NTASKS_PER_GPU=2", "SLURM_MEM_PER_CPU=1", "SLURM_GRES=gpu:9"};
    REQUIRE(jobs.run() == 0);
    CHECK(jobs.ends() == Rows{"ok  4"});
    check_bits(jobs, kShort, "[1, 2]");
}

TEST_CASE("Trials on two nodes of a real Slurm measure the bits of trials on this machine", "[slow][cluster][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const SweepInJobs jobs(slurm, kShort, "[1, 2, 3, 4]", 4);
    REQUIRE(jobs.run() == 0);
    CHECK(jobs.ends() == Rows{"ok  8"});
    CHECK(jobs.sweep.query("SELECT DISTINCT nodes FROM attempt ORDER BY 1", 1) == Rows{"n1", "n2"});
    check_bits(jobs, kShort, "[1, 2, 3, 4]");
}

TEST_CASE("A step of a real Slurm that somebody cancels is held until the next run", "[slow][cluster][faults][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const SweepInJobs jobs(slurm, kLong, "[1, 2]", 1);
    Process driver = jobs.start();
    {
        const FrozenTrainings frozen = jobs.frozen_on_both(driver);
        REQUIRE(frozen.is_complete);
        CHECK(slurm.scancel(frozen.steps.front().job));
    }
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(jobs.ends() == Rows{"cancelled user 1", "ok  3"});
    CHECK(jobs.run() == 0);
    CHECK(jobs.ends() == Rows{"cancelled user 1", "ok  4"});
    check_bits(jobs, kLong, "[1, 2]");
}

TEST_CASE("A node of a real Slurm that loses its power costs no try, and its trial goes on on the other",
          "[slow][cluster][faults][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const SweepInJobs jobs(slurm, kLong, "[1, 2]", 1);
    Process driver = jobs.start();
    {
        const FrozenTrainings frozen = jobs.frozen_on_both(driver);
        REQUIRE(frozen.is_complete);
        slurm.host("off", "n2");
    }
    CHECK(driver.wait() == 0);
    CHECK(jobs.ends() == Rows{"ok  4", "preempted node 1"});
    CHECK(jobs.sweep.value("SELECT nodes FROM attempt WHERE state = 'preempted'") == "n2");
    CHECK(jobs.sweep.value("SELECT nodes FROM attempt WHERE kind = 'train' AND state = 'ok' AND experiment_id IN"
                           " (SELECT experiment_id FROM attempt WHERE state = 'preempted')") == "n1");
    check_bits(jobs, kLong, "[1, 2]");
}

TEST_CASE("A driver in a job of a real Slurm that is killed loses nothing", "[slow][cluster][faults][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const SweepInJobs jobs(slurm, kLong, "[1, 2]", 1);
    Process driver = jobs.start();
    {
        const FrozenTrainings frozen = jobs.frozen_on_both(driver);
        REQUIRE(frozen.is_complete);
        const pid_t pid = jobs.driver();
        REQUIRE(pid > 0);
        ::kill(pid, SIGKILL);
        CHECK(driver.wait() == 128 + SIGKILL);
    }
    const std::string live = "SELECT id FROM attempt WHERE kind = 'train' AND state IN ('leased', 'running')";
    const Rows killed = jobs.sweep.query(live, 1);
    REQUIRE(killed.size() == 2);
    CHECK(jobs.run() == 0);
    UNSCOPED_INFO(all_ends(jobs.sweep));
    // A step may hear of the job's end before it ends.
    const std::string ids = fmt::format("({}, {})", killed[0], killed[1]);
    CHECK(jobs.sweep.value("SELECT count(*) FROM attempt WHERE state IN ('stale', 'preempted') AND id IN " + ids) ==
          "2");
    // The second run does the rest without a failure; Slurm may lose a node of a busy machine for a while.
    CHECK(jobs.sweep.query("SELECT state, fail_class FROM attempt WHERE state != 'ok' AND NOT (state = 'preempted' AND"
                           " fail_class IN ('node', 'other')) AND id NOT IN " +
                               ids,
                           2) == Rows{});
    CHECK(jobs.sweep.count("ok") == "4");
    CHECK(jobs.trained_twice() == "0");
    check_bits(jobs, kLong, "[1, 2]");
}

TEST_CASE("A node of a real Slurm whose network is cut for a while fails no trial", "[slow][cluster][faults][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    // Shorter and longer than Slurm waits for a node.
    const std::chrono::seconds cut = GENERATE(2s, 14s);
    CAPTURE(cut.count());
    const SweepInJobs jobs(slurm, kLong, "[1, 2]", 1);
    Process driver = jobs.start();
    {
        const FrozenTrainings frozen = jobs.frozen_on_both(driver);
        REQUIRE(frozen.is_complete);
        slurm.host("unplug", "n2");
    }
    std::this_thread::sleep_for(cut);
    slurm.host("plug", "n2");
    CHECK(driver.wait() == 0);
    CHECK(jobs.sweep.count("ok") == "4");
    CHECK(jobs.sweep.count("failed") == "0");
    check_bits(jobs, kLong, "[1, 2]");
}

namespace {

// Faults of one cluster, one node at a time.
class Chaos {
 public:
    Chaos(const RealSlurm& slurm, const SweepInJobs& jobs, std::size_t seed, std::size_t events)
        : slurm_(slurm), jobs_(jobs), random_(seed), left_(events) {}

    // Until the run has ended, which it does by itself or by the death of its driver.
    int run() {
        const std::set<std::string> before = jobs_of(jobs_.training());
        Process driver = jobs_.start();
        while (!sweeps::has_ended(driver.pid())) {
            repair();
            std::vector<RunningStep> steps = jobs_.training();
            // A step on a broken node meets no other fault than that.
            std::erase_if(
                steps, [&](const RunningStep& step) { return before.contains(job_of(step)) || step.host == broken_; });
            if (left_ > 0 && !steps.empty()) {
                pause(20, broken_.empty() ? 400 : 1500);
                strike(steps[below(steps.size())]);
            } else {
                pause(20, 20);
            }
        }
        return driver.wait();
    }
    void finish_repair() {
        while (!broken_.empty()) {
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

 private:
    static std::string job_of(const RunningStep& step) { return step.job.substr(0, step.job.find('.')); }
    static std::set<std::string> jobs_of(const std::vector<RunningStep>& steps) {
        std::set<std::string> jobs;
        for (const RunningStep& step : steps) jobs.insert(job_of(step));
        return jobs;
    }
    std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }
    void pause(int least_ms, int most_ms) {
        std::this_thread::sleep_for(
            std::chrono::milliseconds(std::uniform_int_distribution(least_ms, most_ms)(random_)));
    }

    void strike(const RunningStep& step) {
        enum class Fault { cancellation, death, power, network };
        using enum Fault;
        static constexpr Fault kWhole[] = {cancellation, death, power, power, network, network},
                               kBroken[] = {cancellation, cancellation, cancellation, death};
        const Fault kind = broken_.empty() ? kWhole[below(std::size(kWhole))] : kBroken[below(std::size(kBroken))];
        const char* name = nullptr;
        if (kind == cancellation) {
            if (!slurm_.scancel(step.job)) return;  // it has ended
            name = "cancelled steps";
        } else if (kind == death) {
            const pid_t driver = jobs_.driver();
            if (driver <= 0) return;
            ::kill(driver, SIGKILL);
            name = "killed drivers";
        } else if (kind == power) {
            slurm_.host("off", step.host);
            broken_ = step.host;
            is_off_ = true;
            name = "power failures";
        } else {
            slurm_.host("unplug", step.host);
            broken_ = step.host;
            is_off_ = false;
            plug_at_ = Clock::now() + std::chrono::milliseconds(500 + below(12'000));
            name = "cut networks";
        }
        ++counts_[name];
        --left_;
    }

    // A node has its power again once Slurm has noticed the failure, and its network after a random time.
    void repair() {
        if (broken_.empty()) return;
        if (is_off_ ? !slurm_.is_down(broken_) : Clock::now() < plug_at_) return;
        slurm_.host(is_off_ ? "boot" : "plug", broken_);
        broken_.clear();
    }

    const RealSlurm& slurm_;
    const SweepInJobs& jobs_;
    std::mt19937 random_;
    std::size_t left_;
    std::map<std::string, int> counts_;
    std::string broken_;  // the node without power or network
    bool is_off_ = false;
    Clock::time_point plug_at_{};
};

}  // namespace

TEST_CASE("Random faults of a real Slurm lose nothing and change no bit", "[slow][cluster][faults][bare]") {
    const RealSlurm slurm;
    if (!slurm.problem.empty()) DEFT_SKIP(slurm.problem.c_str());
    const std::size_t events = number_of("DEFT_CHAOS_EVENTS", 20), seed = number_of("DEFT_CHAOS_SEED", 1);
    std::string seeds = "[1";
    for (std::size_t i = 2; i <= std::max<std::size_t>(12, events * 6 / 10); ++i) seeds += fmt::format(", {}", i);
    seeds += "]";
    const SweepInJobs jobs(slurm, kMedium, seeds, 1);
    Chaos chaos(slurm, jobs, seed, events);
    std::vector<int> codes;
    do {
        codes.push_back(chaos.run());
        UNSCOPED_INFO(fmt::format("run {} gave {}\n{}", codes.size(), codes.back(), read_file(jobs.sweep.err())));
    } while (codes.back() != 0 && codes.size() < 5 * events);
    chaos.finish_repair();
    std::printf("seed %zu: %s; %zu runs\n", seed, chaos.text().c_str(), codes.size());
    for (const std::string& end : jobs.ends()) std::printf("  %s\n", end.c_str());

    CHECK(codes.back() == 0);
    CHECK(chaos.left() <= events / 2);  // a sweep may end before all have come
    CHECK(jobs.sweep.value("SELECT count(DISTINCT experiment_id) FROM attempt WHERE kind = 'train' AND state = 'ok'") ==
          jobs.sweep.value("SELECT count(*) FROM experiment"));
    CHECK(jobs.trained_twice() == "0");
    UNSCOPED_INFO(all_ends(jobs.sweep));
    // A step whose job is revoked may save a checkpoint and end, which is a preemption, or end without a reason.
    CHECK(jobs.sweep.query("SELECT DISTINCT state, fail_class FROM attempt WHERE state != 'ok' AND fail_class NOT IN"
                           " ('node', 'user', 'stale', 'preempt', 'other')",
                           2) == Rows{});
    check_bits(jobs, kMedium, seeds);
}
