// Where ranks meet, by what torchrun, srun and sbatch give to a process.

#include "engine/comm/meeting.h"

#include <map>
#include <memory>
#include <vector>

#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/with_variable.h"

using namespace deft::engine;
using namespace deft::test;

namespace {

using Variables = std::map<std::string, std::string>;

// The meeting of a process that has these variables, and no others of launchers.
Meeting meeting_with(const Variables& variables) {
    std::vector<std::unique_ptr<WithVariable>> set;
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "DEFT_PORT",
                             "TORCHELASTIC_USE_AGENT_STORE", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID",
                             "SLURM_NTASKS", "LOCAL_WORLD_SIZE", "SLURM_STEP_NUM_NODES", "SLURM_STEP_NUM_TASKS",
                             "SLURM_STEP_NODELIST", "SLURM_LAUNCH_NODE_IPADDR"}) {
        const auto given = variables.find(name);
        set.push_back(std::make_unique<WithVariable>(name, given == variables.end() ? "" : given->second));
        if (given == variables.end()) ::unsetenv(name);
    }
    return meeting_of_launcher();
}

Variables with(Variables variables, const Variables& others) {
    for (const auto& [name, value] : others) variables[name] = value;
    return variables;
}

Variables without(Variables variables, const std::string& name) {
    variables.erase(name);
    return variables;
}

const Variables kTorchrun = {{"RANK", "2"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "first"}, {"MASTER_PORT", "29500"}};
const Variables kSrun = {{"SLURM_JOB_ID", "800"},
                         {"SLURM_STEP_ID", "1"},
                         {"SLURM_STEP_NUM_TASKS", "4"},
                         {"SLURM_NTASKS", "4"},
                         {"SLURM_PROCID", "3"},
                         {"SLURM_STEP_NODELIST", "gpu[07-09],other"},
                         {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.9"}};

void check_refused(const Variables& variables, const std::string& says) {
    CHECK(refusal([&] { meeting_with(variables); }, says) != "accepted");
}

}  // namespace

TEST_CASE("torchrun's variables say where its ranks meet") {
    const Meeting meeting = meeting_with(with(kTorchrun, {{"TORCHELASTIC_RUN_ID", "one"}}));
    CHECK(meeting.rank == 2);
    CHECK(meeting.ranks == 3);
    CHECK(meeting.host == "first");
    CHECK(meeting.port == 29500);
    CHECK(meeting.token == "one");
    CHECK(meeting_with(kTorchrun).token.empty());
    CHECK(meeting_with(with(kTorchrun, {{"SLURM_JOB_ID", "5"}})).token == "5");
    // It holds that port itself, and says so.
    const Variables store = with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}});
    CHECK(meeting_with(store).port == 29501);
    CHECK(meeting_with(with(store, {{"MASTER_PORT", "65535"}})).port == 65534);
    CHECK(meeting_with(with(store, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).port == 29500);
    CHECK(meeting_with(with(store, {{"DEFT_PORT", "4000"}})).port == 4000);
}

TEST_CASE("ranks that are all on one machine meet at its loopback, whatever name the launcher gives it") {
    CHECK(meeting_with(with(kTorchrun, {{"LOCAL_WORLD_SIZE", "3"}})).host == "127.0.0.1");
    CHECK(meeting_with(with(kTorchrun, {{"LOCAL_WORLD_SIZE", "1"}})).host == "first");
    CHECK(meeting_with(with(kSrun, {{"SLURM_STEP_NUM_NODES", "1"}})).host == "127.0.0.1");
    CHECK(meeting_with(with(kSrun, {{"SLURM_STEP_NUM_NODES", "2"}})).host == "gpu07");
}

TEST_CASE("a process that no launcher started with others is alone") {
    CHECK(meeting_with({}).ranks == 1);
    CHECK(meeting_with(without(kTorchrun, "RANK")).ranks == 1);
    CHECK(meeting_with(without(kTorchrun, "WORLD_SIZE")).ranks == 1);
    CHECK(meeting_with({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).ranks == 1);
}

TEST_CASE("torchrun's variables that make no sense are refused by name") {
    check_refused(with(kTorchrun, {{"RANK", "3"}}), "RANK is 3, which is not from 0 to 2");
    check_refused(with(kTorchrun, {{"RANK", "-1"}}), "RANK is -1, which is not from 0 to 2");
    check_refused(with(kTorchrun, {{"RANK", "first"}}), "RANK is \"first\", which is not a number");
    check_refused(with(kTorchrun, {{"RANK", ""}}), "RANK is \"\", which is not a number");
    check_refused(with(kTorchrun, {{"WORLD_SIZE", "3x"}}), "WORLD_SIZE is \"3x\", which is not a number");
    check_refused(with(kTorchrun, {{"WORLD_SIZE", "0"}}), "WORLD_SIZE is 0, which is not from 1 to");
    check_refused(with(kTorchrun, {{"MASTER_PORT", "70000"}}), "MASTER_PORT is 70000, which is not from 1 to 65535");
    check_refused(with(kTorchrun, {{"DEFT_PORT", "http"}}), "DEFT_PORT is \"http\"");
    check_refused(without(kTorchrun, "MASTER_ADDR"), "RANK and WORLD_SIZE are set, and MASTER_ADDR is not");
    check_refused(without(kTorchrun, "MASTER_PORT"), "and MASTER_PORT is not");
}

TEST_CASE("tasks of one srun meet on its first node, each step at a port of its own") {
    const Meeting meeting = meeting_with(kSrun);
    CHECK(meeting.rank == 3);
    CHECK(meeting.ranks == 4);
    CHECK(meeting.host == "gpu07");
    CHECK(meeting.token == "800.1");
    CHECK(meeting.port >= 16384);
    CHECK(meeting.port < 32768);
    CHECK(meeting_with(with(kSrun, {{"SLURM_PROCID", "0"}})).port == meeting.port);
    CHECK(meeting_with(with(kSrun, {{"SLURM_STEP_ID", "2"}})).port != meeting.port);
    CHECK(meeting_with(with(kSrun, {{"SLURM_JOB_ID", "801"}})).port != meeting.port);
    CHECK(meeting_with(with(kSrun, {{"MASTER_PORT", "777"}})).port == 777);
    CHECK(meeting_with(with(kSrun, {{"MASTER_PORT", "777"}, {"DEFT_PORT", "888"}})).port == 888);
    CHECK(meeting_with(with(kSrun, {{"MASTER_ADDR", "first"}})).host == "first");
    CHECK(meeting_with(without(kSrun, "SLURM_STEP_NODELIST")).host == "10.0.0.9");
    check_refused(without(without(kSrun, "SLURM_STEP_NODELIST"), "SLURM_LAUNCH_NODE_IPADDR"), "MASTER_ADDR is not");
    check_refused(with(kSrun, {{"SLURM_PROCID", "4"}}), "SLURM_PROCID is 4");
    check_refused(with(kSrun, {{"SLURM_STEP_NUM_TASKS", "many"}}), "SLURM_STEP_NUM_TASKS is \"many\"");
    // torchrun within a step.
    CHECK(meeting_with(with(kSrun, kTorchrun)).ranks == 3);
}

TEST_CASE("a process within an allocation of Slurm that is not one of several tasks is alone") {
    // salloc's shell, and sbatch's script, which has a SLURM_PROCID.
    const Variables allocation = {{"SLURM_JOB_ID", "800"}, {"SLURM_NTASKS", "4"}};
    CHECK(meeting_with(allocation).ranks == 1);
    CHECK(meeting_with(with(allocation, {{"SLURM_PROCID", "0"}})).ranks == 1);
    // Steps that Slurm makes for itself.
    for (const char* step : {"4294967290", "4294967291", "4294967292"})
        CHECK(meeting_with(with(kSrun, {{"SLURM_STEP_ID", step}})).ranks == 1);
    // srun --pty.
    CHECK(meeting_with(with(kSrun, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}})).ranks == 1);
    for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"})
        CHECK(meeting_with(without(kSrun, name)).ranks == 1);
}

TEST_CASE("the first of Slurm's list of nodes") {
    CHECK(first_of_node_list("") == "");
    CHECK(first_of_node_list("one") == "one");
    CHECK(first_of_node_list("one,two") == "one");
    CHECK(first_of_node_list("node[01-04,07],other") == "node01");
    CHECK(first_of_node_list("node[3,7-9]") == "node3");
    CHECK(first_of_node_list("rack[0-3]node[5-7]x") == "rack0node5x");
    CHECK(first_of_node_list("node[12]") == "node12");
    CHECK(first_of_node_list("broken[12") == "broken12");
}
