// The cores and the memory that limits of Slurm and of control groups leave, by hand-written trees of /proc and /sys.

#include "base/usable_machine.h"

#include <map>

#include "base/files.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::test;

namespace {

using Texts = std::map<std::string, std::string>;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
const Texts kMachine = {{"proc/meminfo", "MemTotal:        8388608 kB\nMemFree:         1000 kB\n"}};
const Texts kNoGroups = {{"proc/self/cgroup", "0::/\n"}};
const Texts kStep = {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "0"},      {"SLURM_STEP_NUM_TASKS", "1"},
                     {"SLURM_PROCID", "0"}, {"SLURM_CPUS_ON_NODE", "6"}, {"SLURM_CPUS_PER_TASK", "2"}};
const Texts kBatch = {
    {"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_CPUS_ON_NODE", "6"}, {"SLURM_CPUS_PER_TASK", "2"}};

Texts with(Texts texts, const Texts& others) {
    for (const auto& [name, text] : others) texts[name] = text;
    return texts;
}

// A machine of 8 processors and 8 GiB that has these files and variables.
class Tree {
 public:
    explicit Tree(const Texts& files, Texts variables = {}) : variables_(std::move(variables)) {
        for (const auto& [name, text] : with(kMachine, files)) {
            std::filesystem::create_directories((folder_.path() / name).parent_path());
            write_file_atomically(folder_.path() / name, text);
        }
        sources_.root = folder_.path();
        sources_.processors = 8;
        sources_.variables = [this](const char* name) -> const char* {
            const auto found = variables_.find(name);
            return found == variables_.end() ? nullptr : found->second.c_str();
        };
    }

    void check_cores(std::int64_t amount, const std::string& limit) const {
        const UsableAmount usable = usable_cores(sources_);
        CHECK(usable.amount == amount);
        CHECK(usable.limit == limit);
    }
    void check_memory(std::int64_t amount, const std::string& limit) const {
        const UsableAmount usable = usable_memory(sources_);
        CHECK(usable.amount == amount);
        CHECK(usable.limit == limit);
    }

 private:
    TemporaryFolder folder_;
    Texts variables_;
    LimitSources sources_;
};

}  // namespace

TEST_CASE("a process without limits uses the machine") {
    for (const Texts& files : {kNoGroups, Texts{}, Texts{{"proc/self/cgroup", "what is this\n:\n"}}}) {
        const Tree tree(files);
        tree.check_cores(8, "");
        tree.check_memory(8192 * kMiB, "");
    }
    const LimitSources here;
    CHECK(usable_cores() >= 1);
    CHECK(usable_cores() <= here.processors);
    CHECK(usable_memory() > 0);
}

TEST_CASE("a step has the cores of its task, and a batch script those of its job on the node") {
    Tree(kNoGroups, kStep).check_cores(2, "SLURM_CPUS_PER_TASK");
    Tree(kNoGroups, kBatch).check_cores(6, "SLURM_CPUS_ON_NODE");
    Tree(kNoGroups, with(kStep, {{"SLURM_CPUS_ON_NODE", "1"}})).check_cores(1, "SLURM_CPUS_ON_NODE");
    Tree(kNoGroups, with(kBatch, {{"SLURM_CPUS_ON_NODE", "64"}})).check_cores(8, "");
    Tree(kNoGroups, with(kBatch, {{"SLURM_CPUS_ON_NODE", "4(x2)"}})).check_cores(8, "");
    Tree(kNoGroups, with(kBatch, {{"SLURM_CPUS_ON_NODE", "0"}})).check_cores(1, "SLURM_CPUS_ON_NODE");
    // The shell of salloc, on a machine that is not of the allocation.
    Tree(kNoGroups, {{"SLURM_JOB_ID", "7"}, {"SLURM_CPUS_PER_TASK", "2"}, {"SLURM_MEM_PER_NODE", "300"}})
        .check_cores(8, "");
    // Left over from a job that is not this process's.
    Tree(kNoGroups, {{"SLURM_CPUS_ON_NODE", "2"}, {"SLURM_MEM_PER_NODE", "300"}}).check_cores(8, "");
}

TEST_CASE("memory of a job is that of its node, or of its cores") {
    Tree(kNoGroups, with(kStep, {{"SLURM_MEM_PER_NODE", "300"}})).check_memory(300 * kMiB, "SLURM_MEM_PER_NODE");
    Tree(kNoGroups, with(kBatch, {{"SLURM_MEM_PER_CPU", "500"}})).check_memory(3000 * kMiB, "SLURM_MEM_PER_CPU");
    Tree(kNoGroups, with(kStep, {{"SLURM_MEM_PER_CPU", "500"}})).check_memory(1000 * kMiB, "SLURM_MEM_PER_CPU");
    for (const char* none : {"0", "all", "", "-1", "99999999", "9223372036854775807"})
        Tree(kNoGroups, with(kStep, {{"SLURM_MEM_PER_NODE", none}})).check_memory(8192 * kMiB, "");
    Tree(kNoGroups, {{"SLURM_JOB_ID", "7"}, {"SLURM_MEM_PER_NODE", "300"}}).check_memory(8192 * kMiB, "");
}

TEST_CASE("the smallest limit of control groups of version 2 counts, from the process's up to the top") {
    const std::string top = "sys/fs/cgroup/";
    const Texts files = {{"proc/self/cgroup", "0::/jobs/one/task\n"},
                         {top + "jobs/cpu.max", "300000 100000\n"},
                         {top + "jobs/one/cpu.max", "max 100000\n"},
                         {top + "jobs/one/task/cpu.max", "550000 100000\n"},
                         {top + "jobs/memory.max", "max\n"},
                         {top + "jobs/one/memory.max", "1048576\n"},
                         {top + "jobs/one/task/memory.max", "2097152\n"}};
    Tree(files).check_cores(3, "control group");
    Tree(files).check_memory(kMiB, "control group");
    Tree(files, kStep).check_cores(2, "SLURM_CPUS_PER_TASK");
    Tree(with(files, {{top + "jobs/cpu.max", "50000 100000"}})).check_cores(1, "control group");
    Tree(with(files, {{top + "jobs/cpu.max", "torn"}})).check_cores(5, "control group");
    // A container that sees its own group as the top.
    const Texts container = {
        {"proc/self/cgroup", "0::/\n"}, {top + "cpu.max", "250000 100000"}, {top + "memory.max", "3145728"}};
    Tree(container).check_cores(2, "control group");
    Tree(container).check_memory(3 * kMiB, "control group");
    Tree(with(container, {{"proc/self/cgroup", "0::/../../other\n"}})).check_cores(2, "control group");
}

TEST_CASE("the smallest limit of control groups of version 1 counts, wherever they are mounted") {
    const std::string top = "sys/fs/cgroup/";
    const std::string unlimited = "9223372036854771712\n";
    const Texts files = {
        {"proc/self/cgroup", "9:name=systemd:/\n4:memory:/slurm/job\n3:cpuset:/\n2:cpu,cpuacct:/slurm\n0::/\n"},
        {top + "cpu,cpuacct/slurm/cpu.cfs_quota_us", "400000\n"},
        {top + "cpu,cpuacct/slurm/cpu.cfs_period_us", "100000\n"},
        {top + "cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
        {top + "cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
        {top + "memory/slurm/job/memory.limit_in_bytes", unlimited},
        {top + "memory/slurm/memory.limit_in_bytes", "5242880\n"},
        {top + "memory/memory.limit_in_bytes", unlimited}};
    Tree(files).check_cores(4, "control group");
    Tree(files).check_memory(5 * kMiB, "control group");
    // A container whose group is mounted as the top, with the host's name for it.
    const Texts container = {{"proc/self/cgroup", "4:memory:/docker/a\n2:cpuacct,cpu:/docker/a\n"},
                             {top + "cpu/cpu.cfs_quota_us", "200000"},
                             {top + "cpu/cpu.cfs_period_us", "100000"},
                             {top + "memory/memory.limit_in_bytes", "7340032"}};
    Tree(container).check_cores(2, "control group");
    Tree(container).check_memory(7 * kMiB, "control group");
}
