// Trials on several ranks: trained and scored together, stopped, killed, and distinguished.

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "base/descriptor.h"
#include "base/journal.h"
#include "base/stopwatch.h"
#include "tests/catch.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

namespace {

// Validated on the way, and saved often.
const std::string kValidatedOften = R"toml(
[defaults.checkpoint]
every_seconds = 0.02
)toml" + std::string(kBothTechniques) +
                                    "[case.eval]\nevery = \"3 times\"\n";
const std::vector<std::string> kTwoRanks = {"--ranks", "2"};
const std::vector<std::string> kLongOnRanks = {"--ranks", "2", "--set",
                                               fmt::format("train.budget_tokens={}", test::long_tokens(60'000))};

// The ranks of the trial whose rank 0 that is.
std::vector<pid_t> ranks_beside(pid_t rank) {
    return sweeps::children_of(sweeps::parent_of(rank));
}

// The other rank of that sweep; -1 without one.
pid_t other_rank(const TinySweep& sweep, pid_t first) {
    for (const pid_t rank : ranks_beside(first))
        if (rank != first && sweep.is_of_sweep(rank)) return rank;
    return -1;
}

// Rank 0 of a trial that trains, stopped where it is, and the other one.
struct Ranks {
    pid_t first = -1, other = -1;
};
Ranks frozen_ranks(const TinySweep& sweep) {
    Ranks ranks;
    ranks.first = sweep.freeze_trial();
    REQUIRE(ranks.first > 0);
    ranks.other = other_rank(sweep, ranks.first);
    REQUIRE(ranks.other > 0);
    return ranks;
}

// A PATH on which mpirun has rank 1 do that first, as a line of bash.
std::string path_with_rank_1(const TinySweep& sweep, const std::string& line) {
    const std::filesystem::path first = sweep.folder.write(
        "bin/rank", "#!/bin/bash\n[ \"$OMPI_COMM_WORLD_RANK\" != 1 ] || " + line + "\nexec \"$@\"\n");
    const std::filesystem::path mpirun = sweep.folder.write(
        "bin/mpirun",
        "#!/bin/bash\nreal=$(PATH=${PATH#*:} command -v mpirun)\n[ $# -gt 7 ] || exec \"$real\" \"$@\"\n"
        "exec \"$real\" \"${@:1:7}\" \"$(dirname \"$0\")/rank\" \"${@:8}\"\n");
    for (const std::filesystem::path& script : {first, mpirun})
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    return mpirun.parent_path().string() + ":" + std::getenv("PATH");
}

std::vector<double> values(const TinySweep& sweep, const std::string& sql) {
    std::vector<double> found;
    for (const std::string& row : sweep.query(sql, 1)) found.push_back(std::stod(row));
    return found;
}

// A listening socket of a process, by /proc/net/FILE.
struct Listener {
    std::string address;  // hexadecimal
    std::uint16_t port = 0;
};
std::vector<Listener> listeners_of(pid_t pid, const std::string& file) {
    std::set<std::string> sockets;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid), ignored))
        sockets.insert(std::filesystem::read_symlink(entry.path(), ignored).string());
    std::vector<Listener> found;
    std::istringstream lines(test::read_text("/proc/net/" + file));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string number, own, peer, state, skipped, inode;
        words >> number >> own >> peer >> state >> skipped >> skipped >> skipped >> skipped >> skipped >> inode;
        const std::size_t colon = own.find(':');
        if (state == "0A" && sockets.contains("socket:[" + inode + "]"))
            found.push_back(
                {own.substr(0, colon), static_cast<std::uint16_t>(std::stoi(own.substr(colon + 1), nullptr, 16))});
    }
    return found;
}

// A stranger who connects to that port of this machine and says nothing.
Descriptor stranger_at(std::uint16_t port) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    return socket;
}

}  // namespace

TEST_CASE("Ranks of one machine listen at no port, and a silent stranger at mpirun's does not keep their trial",
          "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const TinySweep sweep(kValidatedOften);
    Process driver = sweep.start(kLongOnRanks);
    const Ranks ranks = frozen_ranks(sweep);
    for (const pid_t rank : {ranks.first, ranks.other})
        for (const char* file : {"tcp", "tcp6"}) CHECK(listeners_of(rank, file).empty());
    std::vector<Descriptor> strangers;
    for (const Listener& listener : listeners_of(sweeps::parent_of(ranks.first), "tcp"))
        strangers.push_back(stranger_at(listener.port));
    CHECK(!strangers.empty());
    ::kill(ranks.first, SIGCONT);
    const auto has_last_line = [](const std::filesystem::path& journal) {
        return read_file(journal).find("\"ended\"") != std::string::npos;
    };
    REQUIRE(wait_until([&] { return std::ranges::any_of(sweep.journals(), has_last_line); }));
    const Clock::time_point ended = Clock::now();
    wait_until([&] { return sweep.says("done ") || seconds_since(ended) > 40; });
    CHECK(seconds_since(ended) < 40);
    strangers.clear();
    CHECK(driver.wait() == kExitOk);
}

TEST_CASE("A sweep on two ranks trains and scores as on one, and keeps their number", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const TinySweep two(kValidatedOften), one(kValidatedOften);
    REQUIRE(two.run(kTwoRanks).exit_code == kExitOk);
    CHECK(two.says("1 worker of 2 ranks of 1 thread"));
    REQUIRE(one.run().exit_code == kExitOk);
    for (const char* sql :
         {"SELECT loss FROM v_curve ORDER BY step", "SELECT value FROM evaluation ORDER BY score_key, id"}) {
        const std::vector<double> of_two = values(two, sql), of_one = values(one, sql);
        REQUIRE(of_two.size() == of_one.size());
        REQUIRE(!of_two.empty());
        for (std::size_t i = 0; i < of_one.size(); ++i)
            CHECK(of_two[i] == Approx(of_one[i]).epsilon(0.01).margin(0.06));
    }
    CHECK(two.query("SELECT DISTINCT ranks, devices FROM attempt", 2) == std::vector<std::string>{"2 2"});
    CHECK(one.query("SELECT DISTINCT ranks, devices FROM attempt", 2) == std::vector<std::string>{"1 1"});
    CHECK(two.value("SELECT config_hash FROM experiment") == one.value("SELECT config_hash FROM experiment"));
    CHECK_THAT(two.deft("show", {"both", "--root", two.root.string()}).out,
               ContainsSubstring("on 2 ranks on 2 threads"));
    // Trained on two ranks, scored by one: the scores have no share in the ranks.
    REQUIRE(two.run({"--ranks", "1", "--set", "eval.documents=10"}).exit_code == kExitOk);
    REQUIRE(two.run({"--ranks", "2", "--set", "eval.documents=11"}).exit_code == kExitOk);
    CHECK(two.count("ok") == "1");
    CHECK(two.query("SELECT ranks FROM attempt WHERE kind = 'score' ORDER BY id", 1) ==
          std::vector<std::string>{"2", "1", "2"});
}

TEST_CASE("Ranks that are stopped or killed, and their driver, go on to the same bits", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const WithVariable no_leaks("ASAN_OPTIONS",
                                "detect_leaks=0");  // MPI keeps what it allocates, which would be no good end
    const TinySweep undisturbed(kValidatedOften);
    REQUIRE(undisturbed.run(kLongOnRanks).exit_code == kExitOk);

    const TinySweep sweep(kValidatedOften);
    {  // Stopped with a checkpoint, also where a signal had stopped a rank before.
        Process driver = sweep.start(kLongOnRanks);
        const pid_t first = sweep.freeze_trial();
        REQUIRE(first > 0);
        driver.signal(SIGTERM);
        CHECK(driver.wait() == kExitWorkLeft);
        CHECK(sweep.count("preempted") + sweep.count("cancelled") == "01");
        // A good end to mpirun too, which would end other ranks where one's exit code reported a failure.
        CHECK_THAT(read_file(sweep.journals().front().parent_path() / "log.txt"), !ContainsSubstring("mpirun"));
    }
    {  // The driver is killed: no process survives.
        Process driver = sweep.start(kLongOnRanks);
        const pid_t first = sweep.freeze_trial();
        REQUIRE(first > 0);
        driver.signal(SIGKILL);
        driver.wait();
        CHECK(wait_until([&] { return sweep.processes().empty(); }));
    }
    {  // A rank is killed: the trial has crashed, and is tried again.
        Process driver = sweep.start(kLongOnRanks);
        const auto [first, victim] = frozen_ranks(sweep);
        ::kill(victim, SIGKILL);
        ::kill(first, SIGCONT);
        CHECK(driver.wait() == kExitOk);
        CHECK(sweep.value("SELECT error FROM attempt WHERE fail_class = 'crash'") ==
              "rank 1 was ended by signal 9 (Killed)");
    }
    CHECK(sweep.measured() == undisturbed.measured());
    CHECK(std::stoll(sweep.value("SELECT count(*) FROM attempt WHERE resume_step > 0")) > 0);
}

TEST_CASE("A rank above 0 records its failure in its own journal, and the trial reports it", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const TinySweep sweep(kValidatedOften);
    Process driver = sweep.start(kLongOnRanks);
    const auto [first, victim] = frozen_ranks(sweep);
    journal::Ended ended;
    ended.state = "failed";
    ended.fail_class = "nan";
    ended.error = "training diverged";
    journal::Writer(sweep.journals().front().parent_path() / "journal_rank1.jsonl").write(ended);
    ::kill(victim, SIGKILL);
    CHECK(driver.wait() == kExitFailed);  // a training that diverged is not tried again
    CHECK(sweep.query("SELECT fail_class, error FROM attempt", 2) ==
          std::vector<std::string>{"nan rank 1: training diverged"});
    CHECK(wait_until([&] { return sweep.processes().empty(); }));
}

TEST_CASE("A rank that a signal has stopped while another waits for it ends the trial as timed out",
          "[slow][bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const TinySweep sweep(kValidatedOften);
    Process driver = sweep.start(kLongOnRanks);
    const auto [first, victim] = frozen_ranks(sweep);
    ::kill(victim, SIGSTOP);
    ::kill(first, SIGCONT);
    CHECK(driver.wait() == kExitOk);  // at the second try
    CHECK_THAT(sweep.value("SELECT error FROM attempt WHERE state = 'timeout'"),
               ContainsSubstring("rank 1 was stopped by a signal for 3"));
    CHECK(sweep.count("ok") == "1");
}

#ifdef DEFT_HANGING_EXCHANGE
namespace {

// Has rank 1 hang while it trains; why the trial was ended then, and after how long.
struct Hung {
    std::string error;
    double seconds = 0;
};
Hung hang(const TinySweep& sweep, const std::string& how) {
    const std::filesystem::path file = sweep.folder.path / "hang";
    const WithVariable path("PATH", path_with_rank_1(sweep, "export LD_PRELOAD=" DEFT_HANGING_EXCHANGE)),
        hang_file("DEFT_HANG", file.string());
    Process driver = sweep.start(kLongOnRanks);
    REQUIRE(wait_until([&] {
        const auto journals = sweep.journals();
        return !journals.empty() && read_file(journals.front()).find("\"train\"") != std::string::npos;
    }));
    sweep.folder.write("hang", how);
    REQUIRE(wait_until([&] { return !std::filesystem::exists(file); }));
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(wait_until([&] { return sweep.says("retry"); }));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    CHECK(driver.wait() == kExitOk);
    CHECK(sweep.count("ok") == "1");
    return {sweep.value("SELECT error FROM attempt WHERE state = 'timeout'"), seconds};
}

}  // namespace

TEST_CASE("A rank that computes for ever ends the trial as timed out within a minute", "[slow][bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    if (std::getenv("DEFT_SANITIZED") != nullptr) DEFT_SKIP("nothing is loaded before a sanitiser");
    const Hung hung = hang(TinySweep(kValidatedOften), "computing");
    CHECK(hung.seconds < 60);
    CHECK_THAT(hung.error, ContainsSubstring("the ranks made no progress for 3") && ContainsSubstring("rank 1 for ") &&
                               !ContainsSubstring("rank 1 for 0%") && ContainsSubstring("--ranks 1"));
}

TEST_CASE(
    "A rank that waits for ever ends the trial as timed out within a minute, and is named as one that computes nothing",
    "[slow][bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    if (std::getenv("DEFT_SANITIZED") != nullptr) DEFT_SKIP("nothing is loaded before a sanitiser");
    const Hung hung = hang(TinySweep(kValidatedOften), "waiting");
    CHECK(hung.seconds < 60);
    CHECK_THAT(hung.error, ContainsSubstring("(training)") && ContainsSubstring("rank 1 for 0%"));
}
#endif

TEST_CASE("A rank that has no memory fails the trial with its own words", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    if (std::getenv("DEFT_SANITIZED") != nullptr)
        DEFT_SKIP("sanitised code needs more address space than a rank is left here");
    const TinySweep sweep(kValidatedOften);
    const std::string path = path_with_rank_1(sweep, "ulimit -v 300000");
    const Ran ran =
        sweep.run({"--ranks", "2", "--set", "model.width=1024"}, [&] { ::setenv("PATH", path.c_str(), 1); });
    CHECK(ran.exit_code == kExitFailed);
    CHECK_THAT(ran.err, ContainsSubstring("(oom_host): rank 1: cannot allocate"));
    CHECK(sweep.value("SELECT state || ' ' || fail_class FROM attempt") == "failed oom_host");
}

TEST_CASE("Ranks that divide the experts train, validate and score as those that do not, and journal what they send",
          "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const std::string experts = kValidatedOften + R"toml([case.model.experts]
count = 4
aux_weight = 0
)toml";
    const TinySweep divided(experts), whole(experts);
    // Seven batches: for the last one no batch of its own is left to the other rank, whose experts it needs.
    const auto run = [](const TinySweep& sweep, const std::string& setting) {
        return sweep.run({"--ranks", "2", "--set", "eval.validation_tokens=450", "--set", setting}).exit_code;
    };
    REQUIRE(run(divided, "train.expert_ranks=2") == kExitOk);
    REQUIRE(run(whole, "train.expert_ranks=1") == kExitOk);
    CHECK(divided.value("SELECT config_hash FROM experiment") == whole.value("SELECT config_hash FROM experiment"));
    for (const char* sql :
         {"SELECT loss FROM v_curve ORDER BY step", "SELECT value FROM evaluation ORDER BY score_key, id"}) {
        const std::vector<double> a = values(divided, sql), b = values(whole, sql);
        REQUIRE(a.size() == b.size());
        REQUIRE(!a.empty());
        for (std::size_t i = 0; i < b.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(0.01).margin(0.06));
    }
    // Each step; rows of 16 values of 4 bytes go there and back, forward and backward.
    CHECK(divided.value("SELECT count(*) FROM train_point WHERE expert_bytes = 0 OR expert_bytes % (4 * 16 * 4) != 0"
                        " OR sent_bytes <= expert_bytes") == "0");
    CHECK(whole.value("SELECT count(*) FROM train_point WHERE expert_bytes != 0 OR sent_bytes = 0") == "0");
    const Ran refused =
        whole.run({"--ranks", "2", "--set", "train.expert_ranks=3", "--set", "train.budget_tokens=5000"});
    CHECK(refused.exit_code == kExitUsage);
    CHECK_THAT(refused.err, ContainsSubstring("train.expert_ranks = 3 does not divide 2 ranks"));
}

TEST_CASE("Ranks that cannot train a sweep are refused before anything starts", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const TinySweep sweep(kValidatedOften);
    const Ran uneven = sweep.run({"--ranks", "3"});
    CHECK(uneven.exit_code == kExitUsage);
    CHECK_THAT(uneven.err, ContainsSubstring("recipe both: the 4 rows of step 1 cannot be divided by 3 ranks") &&
                               ContainsSubstring("train.batch_size"));
    const Ran absent = sweep.run(kTwoRanks, [] { ::setenv("PATH", "/nonexistent", 1); });
    CHECK(absent.exit_code != kExitOk);
    CHECK_THAT(absent.err, ContainsSubstring("mpirun, which is not on PATH"));
    CHECK(sweep.run({"--ranks", "0"}).exit_code == kExitUsage);
    CHECK(sweep.journals().empty());
}
