// Ranks on the hosts of a hostfile: what such a file and an agent may say, by whom ranks are started there, and what
// mpirun says of those that failed. The hosts are names; their agent starts everything on this machine.

#include "sweeps/driver/rank_hosts.h"

#include <cstdlib>
#include <sstream>

#include "base/text.h"
#include "engine/comm/communicator.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/mpirun.h"
#include "sweeps/driver/mpirun_log.h"
#include "sweeps/driver/run_folder.h"
#include "sweeps/driver/slots.h"
#include "tests/refusal.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

namespace {

constexpr const char* kTwoHosts =
    "# of the lab\nalpha slots=2\n\n  beta slots = 3 max_slots=8 # by the window\ngamma\n";

sweeps::SlotRequest ranks_on_hosts(int ranks, int on_each, const std::string& slots = "auto") {
    sweeps::SlotRequest request = sweeps::parse_slots(slots);
    request.ranks = ranks;
    request.ranks_per_node = on_each;
    request.host_slots = 0;
    return request;
}

std::string failure_in(const std::string& log) {
    std::istringstream in(log);
    return sweeps::failure_in_mpirun_log(in);
}

// A sweep, its hostfile, and programs that are found before others.
class HostSweep {
 public:
    explicit HostSweep(const std::string& recipes = kPlain) : sweep(recipes) {
        sweep.folder.write("hosts", "alpha slots=1\nbeta slots=1\nspare slots=1\n");
        // mpirun gives the host, then a line for its shell. Daemons in one folder for temporary files remove each
        // other's there while they start and end.
        program("here",
                "#!/bin/bash\nhost=$1\nshift\necho \"$host\" >> \"$(dirname \"$0\")/reached\"\n"
                "export TMPDIR=\"$(dirname \"$0\")/tmp-$host\"\nmkdir -p \"$TMPDIR\"\nexec sh -c \"$*\"\n");
    }

    void program(const std::string& name, const std::string& text) const {
        std::filesystem::permissions(sweep.folder.write("bin/" + name, text), std::filesystem::perms::owner_all);
    }
    std::string bin() const { return (sweep.folder.path / "bin").string(); }
    std::string hostfile() const { return (sweep.folder.path / "hosts").string(); }
    std::vector<std::string> options(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> all = {"--ranks",    "2",        "--ranks-per-node", "1",
                                        "--hostfile", hostfile(), "--agent",          bin() + "/here"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    std::string reached() const { return read_file(sweep.folder.path / "bin" / "reached"); }

    TinySweep sweep;
};

}  // namespace

TEST_CASE("A hostfile names hosts with their slots, between comments", "[bare]") {
    const std::vector<sweeps::HostLine> hosts = sweeps::parse_hostfile(kTwoHosts, "hosts");
    REQUIRE(hosts.size() == 3);
    CHECK(hosts[0].name == "alpha");
    CHECK(hosts[0].slots == 2);
    CHECK(hosts[1].name == "beta");
    CHECK(hosts[1].slots == 3);
    CHECK(hosts[1].line == 4);
    CHECK(hosts[2].slots == 0);
    const auto others =
        sweeps::parse_hostfile("fe80::1 slots=1\r\n10.0.0.7\n::1\nnode_1.lab-2.example slots=65536", "h");
    REQUIRE(others.size() == 4);
    CHECK(others[0].name == "fe80::1");
    CHECK(others[3].slots == 65536);
    CHECK(sweeps::hostfile_text({{"alpha", "beta"}, 2, "ssh"}) == "alpha slots=2\nbeta slots=2\n");
}

TEST_CASE("A hostfile that makes no sense is refused with its line", "[bare]") {
    const auto [text, says] = GENERATE(table<std::string, std::string>({
        {"", "the hostfile names no host"},
        {"# nobody\n\n", "the hostfile names no host"},
        {"a\nb slots=1\nA slots=2\n", "hosts:3: A is on line 1 already"},
        {"a slot=2\n", "hosts:1: unknown word 'slot=2'"},
        {"a 2\n", "hosts:1: unknown word '2'"},
        {"a slots\n", "slots of a is not a number"},
        {"\na slots=0\n", "hosts:2: slots of a is not a number from 1"},
        {"a slots=-1\n", "slots of a is not a number"},
        {"a slots=2x\n", "slots of a is not a number"},
        {"a slots=99999999999\n", "slots of a is not a number"},
        {"a max_slots=\n", "max_slots of a is not a number"},
        {"a slots=1 slots=2\n", "a states its slots twice"},
        {"-oProxyCommand=x\n", "'-oProxyCommand=x' is not the name of a host"},
        {"-w\n", "'-w' is not the name of a host"},
        {"a;reboot\n", "'a;reboot' is not the name of a host"},
        {"$(reboot)\n", "is not the name of a host"},
        {"me@a\n", "'me@a' is not the name of a host"},
        {"a:22\n", "'a:22' is not the name of a host"},
        {"a\x1b[2J\n", "is not the name of a host"},
        {"+n0\n", "'+n0' is not the name of a host"},
        {"^a\n", "'^a' is not the name of a host"},
        {std::string(254, 'a') + "\n", "is not the name of a host"},
    }));
    CAPTURE(text);
    const std::string message = refusal([&, t = text] { sweeps::parse_hostfile(t, "hosts"); }, says);
    CHECK_THAT(message, ContainsSubstring("nothing was started") && ContainsSubstring("help:"));
    CHECK(message.find('\x1b') == std::string::npos);
}

TEST_CASE("A trial takes the first hosts that suffice, each with room for its ranks", "[bare]") {
    const Folder folder;
    const std::filesystem::path file = folder.write("hosts", kTwoHosts);
    const auto names = [&](int ranks, int on_each) {
        std::string text;
        for (const sweeps::HostLine& host : sweeps::hosts_for_ranks(file, ranks_on_hosts(ranks, on_each)))
            text += host.name + " ";
        return text;
    };
    CHECK(names(4, 2) == "alpha beta ");
    CHECK(names(2, 2) == "alpha ");
    CHECK(names(2, 0) == "alpha ");
    CHECK(names(3, 1) == "alpha beta gamma ");
    refusal([&] { names(4, 1); }, "4 ranks with 1 on each need 4 hosts, and the hostfile has 3");
    refusal([&] { names(6, 3); }, "hosts:2: alpha has 2 slots, and a trial has 3 ranks there");
    refusal(
        ErrorKind::usage, [&] { sweeps::hosts_for_ranks(folder.path / "none", ranks_on_hosts(2, 1)); },
        "none does not exist");
}

TEST_CASE("ssh never asks, and gives up a host; another agent is taken as it is", "[bare]") {
    CHECK(sweeps::agent_command("/usr/bin/env") == "/usr/bin/env");
    const Folder folder;
    std::filesystem::permissions(folder.write("ssh", "#!/bin/sh\n"), std::filesystem::perms::owner_all);
    const WithVariable path("PATH", folder.path.string());
    const std::string usual = sweeps::agent_command("");
    CHECK(usual.starts_with("ssh -o "));
    CHECK_THAT(usual, ContainsSubstring("BatchMode=yes") && ContainsSubstring("ConnectTimeout="));
    CHECK(sweeps::agent_command("ssh -p 22").starts_with("ssh -p 22 -o BatchMode=yes"));
    refusal(
        ErrorKind::missing, [] { sweeps::agent_command("rsh"); }, "the agent rsh is not on PATH");
    for (const char* wrong : {"ssh -o A=b:c", "ssh -o 'A b'", "ssh \"-p\"", "ssh\n-p", "ssh \x1b", "ssh \\ -p", "   "})
        CHECK_THAT(refusal(
                       ErrorKind::usage, [&] { sweeps::agent_command(wrong); }, "agent"),
                   ContainsSubstring("nothing was started"));
}

TEST_CASE("One trial at a time runs on hosts, with its share of their slots", "[bare]") {
    const auto refused = [](int ranks, const std::string& slots) {
        return refusal(ErrorKind::usage, [&] { sweeps::require_request_of_hosts(ranks_on_hosts(ranks, 1, slots)); });
    };
    CHECK_THAT(refused(1, "auto"), ContainsSubstring("trials of several ranks"));
    CHECK_THAT(refused(2, "cpu:2"), ContainsSubstring("one trial at a time runs on a hostfile, and slots are cpu:2"));
    CHECK_THAT(refused(2, "gpu:4"), ContainsSubstring("one trial at a time"));
    CHECK_THAT(refused(2, "gpu:2/2"), ContainsSubstring("one trial at a time"));
    for (const char* slots : {"auto", "cpu:1", "gpu", "gpu:2"}) CHECK(refused(2, slots) == "accepted");

    const std::vector<engine::Gpu> two = {{"A", "GPU-a", std::int64_t{8} << 30}, {"B", "GPU-b", std::int64_t{9} << 30}};
    const auto on_cpu = sweeps::make_slots(ranks_on_hosts(4, 2, "cpu:1"), 1, {}, "");
    REQUIRE(on_cpu.size() == 1);
    CHECK(on_cpu.front().ranks == 4);
    CHECK(on_cpu.front().nodes == 2);
    const auto on_cards = sweeps::make_slots(ranks_on_hosts(4, 2), 1, two, "");
    REQUIRE(on_cards.size() == 1);
    CHECK(on_cards.front().device == engine::Device::cuda);
    CHECK(on_cards.front().gpu_uuids.empty());
    CHECK(on_cards.front().ranks == 4);
    CHECK(sweeps::make_slots(ranks_on_hosts(4, 2, "gpu"), 1, {}, "").front().memory_bytes == 0);
    refusal(
        ErrorKind::missing, [&] { sweeps::make_slots(ranks_on_hosts(6, 3), 1, two, ""); }, "this one has 2");
}

TEST_CASE("mpirun on hosts has its ranks on each, and passes on what they need", "[bare]") {
    using Words = std::vector<std::string>;
    CHECK(sweeps::mpirun_on_hosts_argv(4, 2, "/r/hosts.txt", {"A", "B"}, {"/bin/deft", "trial"}) ==
          Words{"mpirun", "--hostfile", "/r/hosts.txt", "--map-by", "ppr:2:node", "--bind-to", "none", "-x", "A", "-x",
                "B", "-n", "4", "/bin/deft", "trial"});
    const auto value = [](const std::string& name) -> std::string {
        for (const std::string& entry : sweeps::mpirun_on_hosts_environment("ssh -p 22"))
            if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
        return "not set";
    };
    CHECK(value("OMPI_MCA_plm_rsh_agent") == "ssh -p 22");
    CHECK(value("OMPI_MCA_ras").starts_with("^slurm"));
    CHECK(value("OMPI_MCA_btl") == "not set");
    const int seconds =
        std::stoi(value("OMPI_MCA_oob_tcp_keepalive_time")) +
        std::stoi(value("OMPI_MCA_oob_tcp_keepalive_intvl")) * std::stoi(value("OMPI_MCA_oob_tcp_keepalive_probes"));
    CHECK(seconds <= 30);
    const WithVariable chosen("OMPI_MCA_oob_tcp_keepalive_time", "60"), own("DEFT_OF_THIS_TEST", "1"),
        path("LD_LIBRARY_PATH", "/opt/lib"), secret("MY_TOKEN", "x");
    CHECK(value("OMPI_MCA_oob_tcp_keepalive_time") == "not set");
    const Words names = sweeps::variables_of_ranks();
    for (const char* name : {"DEFT_OF_THIS_TEST", "LD_LIBRARY_PATH"}) CHECK(std::ranges::count(names, name) == 1);
    CHECK(std::ranges::count(names, "MY_TOKEN") == 0);
}

TEST_CASE("mpirun's and ssh's messages name the rank or the host, and the fix", "[bare]") {
    const auto [log, says] = GENERATE(table<std::string, std::string>({
        {"step 3\nmpirun noticed that process rank 1 with PID 250 on node n2 exited on signal 9 (Killed).\n",
         "rank 1 on n2 was ended by signal 9 (Killed)"},
        {"Connection to n2 closed by remote host.\r\n", "host n2 was lost"},
        {"ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[6345,0],0] on node n1\n"
         "  Remote daemon: [[6345,0],2] on node n2\n",
         "host n2 was lost"},
        {"ssh: connect to host n2 port 22: Connection refused\r\n", "host n2: Connection refused. Start sshd"},
        {"ssh: connect to host n2 port 22: No route to host\r\n", "host n2: No route to host. See that it is up"},
        {"ssh: connect to host n2 port 22: Connection timed out\n", "host n2: Connection timed out"},
        {"ssh: Could not resolve hostname nowhere: Name or service not known\n", "host nowhere: Name or service"},
        {"root@n2: Permission denied (publickey,password).\n", "ssh-copy-id n2"},
        {"n2: Permission denied (publickey).\n", "host n2: Permission denied (publickey)"},
        {"No ED25519 host key is known for n2 and you have requested strict checking.\n"
         "Host key verification failed.\n",
         "ssh n2 true"},
        {"Host key verification failed.\r\n", "ssh HOST true"},
        {"Connection closed by 10.0.0.2 port 22\n", "host 10.0.0.2 closed the connection"},
        {"Timeout, server n2 not responding.\n", "host n2 was lost"},
        {"bash: line 1: orted: command not found\n", "Install the same Open MPI"},
        {"sh: 1: orted: not found\n", "Install the same Open MPI"},
        {"A daemon on node n2 failed to start as expected.\n", "host n2: orted did not start"},
        {"could not access\nor execute an executable:\n\nExecutable: /opt/deft\nNode: n2\n",
         "host n2 cannot execute /opt/deft"},
        {"change to the specified working directory:\n\nWorking directory: /home/a\nNode: n2\n",
         "host n2 has no folder"},
        {"  Process name: [[1205,1],1]\n  Exit code:    3\n", "rank 1 exited with 3"},
    }));
    CAPTURE(log);
    CHECK_THAT(failure_in(log), ContainsSubstring(says));
    CHECK_THAT(failure_in("ssh: connect to host n9 port 22: Connection refused\n" + log), ContainsSubstring("host n9"));
}

TEST_CASE("A log without words of mpirun names nothing, and what it names is fit for a terminal", "[bare]") {
    CHECK(failure_in("").empty());
    CHECK(failure_in("training\n  HNP daemon   : [[1,0],0] on node n1\nExecutable: /opt/deft\n-----\nNode: n1\n")
              .empty());
    CHECK(failure_in(std::string(1 << 20, 'x') + "\n").empty());
    CHECK(failure_in("Executable: /opt/\x1b[2J\nNode: n2\n").find('\x1b') == std::string::npos);
}

TEST_CASE("Hosts that cannot have a sweep's ranks are refused before anything starts", "[bare]") {
    const HostSweep on;
    const auto refused = [&](const std::vector<std::string>& options, int code = kExitUsage) {
        const Ran ran = on.sweep.run(options);
        CHECK(ran.exit_code == code);
        CHECK_THAT(ran.err, ContainsSubstring("nothing was started"));
        return ran.err;
    };
    CHECK_THAT(refused({"--agent", "ssh"}), ContainsSubstring("--agent reaches the hosts of a hostfile"));
    CHECK_THAT(refused({"--hostfile", on.hostfile()}), ContainsSubstring("trials of several ranks"));
    CHECK_THAT(refused(on.options({"--launcher", "steps"})), ContainsSubstring("--launcher steps asks for Slurm"));
    CHECK_THAT(refused(on.options({"--launcher", "slurm"})), ContainsSubstring("--launcher slurm asks for Slurm"));
    CHECK_THAT(refused(on.options({"--slots", "cpu:2"})), ContainsSubstring("one trial at a time"));
    CHECK_THAT(refused({"--ranks", "2", "--hostfile", "/nonexistent/hosts"}), ContainsSubstring("does not exist"));
    on.sweep.folder.write("hosts", "alpha slots=1\n-beta\n");
    CHECK_THAT(refused(on.options()), ContainsSubstring("hosts:2: '-beta' is not the name of a host"));
    CHECK(on.sweep.journals().empty());
    CHECK(!std::filesystem::exists(on.sweep.folder.path / "bin" / "reached"));
}

TEST_CASE("A host that mpirun names ends the attempt with its name", "[bare][mpi]") {
    if (!engine::Communicator::has_mpi()) DEFT_SKIP(kNoRanks);
    const HostSweep on;
    on.program("mpirun",
               "#!/bin/bash\n[ \"$1\" = --version ] && exit 0\necho \"$*\" >> \"$(dirname \"$0\")/calls\"\n"
               "printf 'ssh: connect to host beta port 22: Connection refused\\r\\n' >&2\nexit 255\n");
    const std::string path = on.bin() + ":" + std::getenv("PATH");
    const Ran ran = on.sweep.run(on.options(), [&] { ::setenv("PATH", path.c_str(), 1); });
    CHECK(ran.exit_code == kExitFailed);
    CHECK_THAT(on.sweep.value("SELECT state || ' ' || fail_class || ' ' || error FROM attempt WHERE number = 1"),
               ContainsSubstring("failed crash host beta: Connection refused. Start sshd there"));
    const std::string calls = read_file(on.sweep.folder.path / "bin" / "calls");
    CHECK_THAT(calls, ContainsSubstring("hosts.txt --map-by ppr:1:node") &&
                          ContainsSubstring(std::filesystem::canonical(DEFT_PROGRAM).string() + " trial /"));
    // A host that no rank needs may be off.
    for (const auto& run : std::filesystem::directory_iterator(on.sweep.root / "runs"))
        CHECK(read_file(run.path() / "hosts.txt") == "alpha slots=1\nbeta slots=1\n");
}

TEST_CASE("An mpirun whose daemons do not meet starts again, and no try is spent", "[bare][mpi]") {
    if (!engine::Communicator::has_mpi()) DEFT_SKIP(kNoRanks);
    const int failures = GENERATE(2, 3);
    const bool is_on_hosts = GENERATE(true, false);
    CAPTURE(failures, is_on_hosts);
    if (failures < 3 && !has_ranks()) DEFT_SKIP(kNoRanks);
    const HostSweep on;
    on.program("mpirun",
               fmt::format("#!/bin/bash\nPATH=${{PATH#*:}}\n[ \"$1\" = --version ] && exec mpirun --version\n"
                           "calls=$(dirname \"$0\")/calls\necho call >> \"$calls\"\n"
                           "[ $(wc -l < \"$calls\") -gt {} ] && exec mpirun \"$@\"\n"
                           "echo 'A process or daemon was unable to complete a TCP connection' >&2\nexit 213\n",
                           failures));
    const std::string path = on.bin() + ":" + std::getenv("PATH");
    const std::vector<std::string> options = is_on_hosts ? on.options() : std::vector<std::string>{"--ranks", "2"};
    CHECK(on.sweep.run(options, [&] { ::setenv("PATH", path.c_str(), 1); }).exit_code == kExitOk);
    // The attempt starts its ranks three times.
    std::vector<std::string> ends = {"ok  "};
    if (failures == 3)
        ends.insert(ends.begin(), "failed crash mpirun exited with 213, and no rank said why in its journal");
    CHECK(on.sweep.query("SELECT state, fail_class, error FROM attempt WHERE kind = 'train' ORDER BY id", 3) == ends);
    // One more that trains, and one that evaluates.
    CHECK(read_file(on.sweep.folder.path / "bin" / "calls").size() == std::string("call\n").size() * (failures + 2));
}

TEST_CASE("Ranks on two hosts measure the bits of ranks on one, and no hash knows of hosts", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const HostSweep on;
    const TinySweep local(kPlain);
    REQUIRE(local.run({"--ranks", "2"}).exit_code == kExitOk);
    const Ran ran = on.sweep.run(on.options());
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.err, ContainsSubstring("1 worker of 2 ranks (1 on each of 2 nodes)"));
    CHECK(on.sweep.measured() == local.measured());
    CHECK(on.sweep.value("SELECT config_hash FROM experiment") == local.value("SELECT config_hash FROM experiment"));
    CHECK_THAT(on.reached(),
               ContainsSubstring("alpha\n") && ContainsSubstring("beta\n") && !ContainsSubstring("spare"));
    CHECK(on.sweep.query("SELECT DISTINCT nodes FROM attempt", 1) == std::vector<std::string>{"alpha,beta"});
}

TEST_CASE("Ranks on hosts save a checkpoint, end where the driver is asked to stop, and are named to go on",
          "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const HostSweep on("[[case]]\nname = \"plain\"\n" + long_budget(400'000));
    Process driver = on.sweep.start(on.options());
    const pid_t first = on.sweep.freeze_trial();
    REQUIRE(first > 0);
    driver.signal(SIGTERM);
    ::kill(first, SIGCONT);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(on.sweep.count("preempted") + on.sweep.count("cancelled") == "01");
    CHECK_THAT(read_file(on.sweep.err()),
               ContainsSubstring("--hostfile " + on.hostfile()) && ContainsSubstring("--agent " + on.bin()));
    CHECK(on.sweep.run(on.options()).exit_code == kExitOk);
    CHECK(on.sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND resume_step > 0") == "1");
    CHECK(wait_until([&] { return on.sweep.processes().empty(); }));
}

TEST_CASE("A killed rank on a host is named, a killed driver leaves none there", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const HostSweep on("[[case]]\nname = \"plain\"\n" + long_budget(400'000));
    {
        Process driver = on.sweep.start(on.options());
        REQUIRE(on.sweep.freeze_trial() > 0);
        driver.signal(SIGKILL);
        driver.wait();
        CHECK(wait_until([&] { return on.sweep.processes().empty(); }));
    }
    Process driver = on.sweep.start(on.options());
    const pid_t first = on.sweep.freeze_trial();
    REQUIRE(first > 0);
    ::kill(first, SIGKILL);
    const int code = driver.wait();
    CAPTURE(on.sweep.query("SELECT number, state, fail_class, error FROM attempt", 4), read_file(on.sweep.err()));
    CHECK(code == kExitOk);
    CHECK_THAT(on.sweep.value("SELECT error FROM attempt WHERE fail_class = 'crash'"),
               ContainsSubstring("rank 0 on ") && ContainsSubstring("signal 9 (Killed)"));
}
