// The whole program on tiny sweeps: what it measures, prints and plans.

#include "tests/sweeps/program.h"
#include "reporting/numbers.h"
#include "sweeps/spec/expand.h"

using namespace deft;
using test::kPlain;
using test::Ran;
using test::TinySweep;

namespace {

std::string with_both() {
    return kPlain + test::kBothTechniques;
}

}  // namespace

TEST_CASE("A sweep is trained once, and shows where its numbers come from", "[bare]") {
    const TinySweep sweep(with_both(), "[1, 2]");
    const Ran first = sweep.run();
    REQUIRE(first.exit_code == kExitOk);
    CHECK_THAT(first.out, ContainsSubstring("plain"));
    CHECK_THAT(first.out, ContainsSubstring("both"));
    CHECK_THAT(first.err, ContainsSubstring("4 ok"));
    CHECK(sweep.count("ok") == "4");
    CHECK(sweep.value("SELECT count(*) FROM attempt a JOIN code c ON c.id = a.code_id JOIN host h ON h.id = a.host_id"
                      " JOIN dataset d ON d.id = a.dataset_id"
                      " WHERE length(c.git_sha) >= 7 AND c.compiler != '' AND c.cxx_flags LIKE '%-march=%'"
                      " AND length(c.binary_sha256) = 64 AND h.hostname != '' AND h.cores > 0 AND h.mem_bytes > 0"
                      " AND length(d.sha256) = 64 AND d.n_tokens > 0 AND a.threads = 1 AND a.train_seconds > 0") ==
          "4");

    const auto attempts = sweep.attempts();
    const Ran second = sweep.run();
    CHECK(second.exit_code == kExitOk);
    CHECK(second.out == first.out);
    CHECK_THAT(second.err, ContainsSubstring("everything was finished already"));
    CHECK(sweep.attempts() == attempts);
}

TEST_CASE("A copied results.db alone gives the same report", "[bare]") {
    const TinySweep sweep(with_both() + "[report]\npaper = \"data_efficiency_gpt_combined\"\n");
    REQUIRE(sweep.run({"--scale", "smoke"}).exit_code == kExitOk);
    const std::filesystem::path copy = sweep.folder.path / "copy";
    make_folder(copy);
    std::filesystem::copy_file(sweep.root / "results.db", copy / "results.db");
    for (const char* format : {"md", "csv", "json", "html"}) {
        const Ran here = sweep.deft("report", {"--root", sweep.root.string(), "--format", format});
        const Ran there = sweep.deft("report", {"--root", copy.string(), "--format", format});
        CHECK(there.exit_code == kExitOk);
        CHECK(there.out == here.out);
    }
    CHECK(sweep.value("SELECT baseline || ' ' || paper FROM sweep") == "plain data_efficiency_gpt_combined");
}

TEST_CASE("Runs that differ by --set keep their reports, and are named with their hashes", "[bare]") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::string page = read_file(sweep.root / "reports/tiny.html");
    const Ran changed = sweep.run({"--set", "train.learning_rate=0.002"});
    REQUIRE(changed.exit_code == kExitOk);
    CHECK_THAT(changed.out, ContainsSubstring("with train.learning_rate=0.002"));
    CHECK(read_file(sweep.root / "reports/tiny.html") == page);
    const std::string first = sweep.value("SELECT spec_sha256 FROM sweep WHERE overrides_json = '[]'"),
                      second = sweep.value("SELECT spec_sha256 FROM sweep WHERE overrides_json <> '[]'");
    CHECK(std::filesystem::exists(sweep.root / "reports" / ("tiny@" + second.substr(0, 12) + ".html")));
    CHECK_THAT(sweep.deft("status").out, ContainsSubstring("other runs: tiny@" + first.substr(0, 12)));
    const auto named = [&](const std::string& command, std::vector<std::string> words, const std::string& hash) {
        words.push_back("tiny@" + hash.substr(0, 6));
        words.insert(words.end(), {"--root", sweep.root.string()});
        return sweep.deft(command, words);
    };
    CHECK(named("report", {}, first).out.find("learning_rate") == std::string::npos);
    CHECK_THAT(named("report", {"--full"}, second).out, ContainsSubstring("Sweep tiny@" + second.substr(0, 12)));
    CHECK_THAT(named("report", {"--per-seed", "--format", "csv"}, first).out, ContainsSubstring("train time (s)"));
    CHECK_THAT(named("baseline", {"pin", "main"}, first).out,
               ContainsSubstring("of sweep tiny@" + first.substr(0, 12)));
    CHECK(sweep.deft("report", {"tiny@zz", "--root", sweep.root.string()}).exit_code != kExitOk);
}

TEST_CASE("Two runs of a sweep are equal bit for bit, whatever the threads", "[bare]") {
    const TinySweep one(with_both()), again(with_both()), threaded(with_both());
    REQUIRE(one.run().exit_code == kExitOk);
    REQUIRE(again.run({"--slots", "cpu:2"}).exit_code == kExitOk);
    REQUIRE(threaded.run({"--threads", "2"}).exit_code == kExitOk);
    CHECK(one.measured().size() > 20);
    CHECK(one.measured() == again.measured());
    CHECK(one.measured() == threaded.measured());
}

TEST_CASE("A diverging trial fails alone, and shows as a gap", "[bare]") {
    const TinySweep sweep(kPlain + R"toml(
[[case]]
name = "wild"
[case.train]
learning_rate = 1e30
max_grad_norm = 0
)toml");
    const Ran ran = sweep.run({"--full"});
    CHECK(ran.exit_code == kExitFailed);
    CHECK_THAT(ran.err, ContainsSubstring("wild/1  (nan)"));
    CHECK(sweep.value("SELECT group_concat(state || ' ' || ifnull(fail_class, ''), ', ') FROM"
                      " (SELECT * FROM attempt WHERE kind = 'train' ORDER BY state)") == "failed nan, ok ");
    const std::size_t row = ran.out.find("wild");
    REQUIRE(row != std::string::npos);
    const std::string line = ran.out.substr(row, ran.out.find('\n', row) - row);
    CHECK_THAT(line, ContainsSubstring(" - "));
    CHECK_THAT(line, ContainsSubstring("0 of 1"));
    const Ran status = sweep.deft("status");
    CHECK(status.exit_code == kExitOk);
    CHECK_THAT(status.out, ContainsSubstring("nan"));

    const auto attempts = sweep.attempts();
    CHECK(sweep.run({"--only", "plain"}).exit_code == kExitOk);
    CHECK(sweep.attempts() == attempts);
}

TEST_CASE("A sweep leaves a page, and reports again in every format", "[bare]") {
    const TinySweep sweep(with_both() + "\n[report]\npaper = \"data_efficiency_gpt_combined\"\n");
    const Ran ran = sweep.run();
    REQUIRE(ran.exit_code == kExitOk);
    // A finished trial leaves one line of progress.
    std::size_t lines = 0;
    for (std::size_t at = ran.err.find("/1  "); at != std::string::npos; at = ran.err.find("/1  ", at + 1)) ++lines;
    CHECK(lines == 2);
    CHECK_THAT(ran.err, ContainsSubstring("done    plain/1  ") && ContainsSubstring("  train loss "));
    std::filesystem::path page;
    for (const auto& entry : std::filesystem::directory_iterator(sweep.root / "reports")) page = entry.path();
    CHECK_THAT(ran.out, ContainsSubstring("Page     " + page.string()));
    const std::string html = read_file(page);
    CHECK_THAT(html, ContainsSubstring("(published)") && ContainsSubstring("<svg"));
    const std::string root = sweep.root.string();
    for (const char* format : {"term", "md", "csv", "tex", "json", "html"}) {
        INFO(format);
        const std::string file = (sweep.folder.path / "report.out").string();
        const Ran report = sweep.deft("report", {"--root", root, "--format", format, "--out", file});
        CHECK(report.exit_code == kExitOk);
        const std::string text = read_file(file);
        CHECK_THAT(text, ContainsSubstring("both"));
        if (std::string(format) == "html") CHECK(text == html);
    }
    // A page that cannot be written does not fail the run.
    std::filesystem::remove_all(sweep.root / "reports");
    write_file_atomically(sweep.root / "reports", "in the way");
    const Ran again = sweep.run();
    CHECK(again.exit_code == kExitOk);
    CHECK_THAT(again.err, ContainsSubstring("warning: no report was written"));
}

TEST_CASE("What is planned is what is consumed", "[bare]") {
    const TinySweep sweep(with_both());
    const Ran plan = sweep.deft("plan");
    REQUIRE(plan.exit_code == kExitOk);
    CHECK(!std::filesystem::exists(sweep.root));
    REQUIRE(sweep.run().exit_code == kExitOk);
    for (const sweeps::Trial& trial : sweeps::expand(sweeps::load_spec(sweep.file, {}))) {
        INFO(trial.name());
        const auto& planned = trial.projection;
        CHECK(sweep.query("SELECT p.step, p.tokens, p.layer_tokens, a.total_steps, a.parameters FROM train_point p"
                          " JOIN attempt a ON a.id = p.attempt_id JOIN experiment e ON e.id = a.experiment_id"
                          " WHERE e.config_hash = '" +
                              trial.config_hash + "' ORDER BY p.step DESC LIMIT 1",
                          5) == std::vector{fmt::format("{} {} {} {} {}", planned.steps, planned.input_tokens,
                                                        planned.layer_tokens, planned.steps, planned.parameters)});
        CHECK_THAT(plan.out, ContainsSubstring(std::to_string(planned.steps)));
        CHECK_THAT(plan.out, ContainsSubstring(reporting::si(static_cast<double>(planned.layer_tokens))));
    }
}

TEST_CASE("A training step laid open is PyTorch's", "[bare]") {
    const TinySweep sweep(test::kBothTechniques);
    const std::string state = (sweep.folder.path / "state.safetensors").string();
    // Late enough for the text to be longer than what random-LTD keeps of it.
    const Ran ran = sweep.deft("debug-state", {"--step", "40", "--out", state});
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(read_file(state), ContainsSubstring("kept.index"));
    CHECK(sweep.deft("debug-state", {"--step", "100000", "--out", state}).exit_code == kExitUsage);
    if (!std::filesystem::exists("/usr/bin/python3")) DEFT_SKIP("no /usr/bin/python3");
    test::Process python({"/usr/bin/python3", DEFT_SOURCE_DIR "/tests/engine/pytorch_parity.py", state}, sweep.out(),
                         sweep.err());
    const int code = python.wait();
    INFO(read_file(sweep.out()) << read_file(sweep.err()));
    if (code == 77) DEFT_SKIP("no PyTorch for /usr/bin/python3 (Debian: python3-torch)");
    CHECK(code == 0);
}

TEST_CASE("debug-state lays open a step of reshaped samples or of a variable batch, too", "[bare]") {
    const TinySweep sweep(R"toml(
[[case]]
name = "reshaped"
[case.curriculum.seqres]
min = 5
difficulty_step = 1
duration = 0.2
[case.random_ltd]
min = 4
step = 1
duration = 0.8
[[case]]
name = "variable"
[case.curriculum.seqtru]
min = 5
difficulty_step = 1
duration = 0.2
[case.variable_batch]
max_tokens = 200
)toml");
    const std::string state = (sweep.folder.path / "state.safetensors").string();
    for (const char* name : {"reshaped", "variable"}) {
        INFO(name);
        const Ran ran =
            sweep.deft("debug-state", {"--only", name, "--step", "3", "--out", state, "--root", sweep.root.string()});
        CHECK(ran.exit_code == kExitOk);
        CHECK(std::filesystem::file_size(state) > 1000);
    }
}

TEST_CASE("A result that cannot be printed is kept, and is said not to be printed", "[bare]") {
    const TinySweep sweep(kPlain);
    const Ran full = sweep.run({}, [] {
        const int device = ::open("/dev/full", O_WRONLY);
        ::dup2(device, STDOUT_FILENO);
    });
    CHECK(full.exit_code == kExitFailed);
    CHECK_THAT(full.err, ContainsSubstring("cannot write to standard output"));
    CHECK(sweep.count("ok") == "1");
    const std::string lock_before = read_file(sweep.root / "results.db.lock");
    // With its descriptor free, the next file that is opened would be taken for standard output.
    const Ran closed = sweep.run({}, [] { ::close(STDOUT_FILENO); });
    CHECK(closed.exit_code == kExitFailed);
    CHECK_THAT(closed.err, ContainsSubstring("cannot write to standard output"));
    CHECK(read_file(sweep.root / "results.db.lock") == lock_before);
    const Ran silent = sweep.run({}, [] { ::close(STDERR_FILENO); });
    CHECK(silent.exit_code == kExitOk);
    CHECK(sweep.count("ok") == "1");
}

TEST_CASE("A sweep goes on when nobody reads what it says any more", "[bare]") {
    const TinySweep sweep(with_both());
    const Ran ran = sweep.run({}, [] {
        int ends[2];
        if (::pipe(ends) != 0) ::_exit(126);
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
    });
    CHECK(ran.exit_code == kExitOk);
}
