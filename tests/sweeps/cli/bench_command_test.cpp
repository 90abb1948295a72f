// deft bench through the program.

#include <sstream>
#include <string>

#include "engine/core/backend.h"
#include "results_db/reader.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

TEST_CASE("deft bench run checks, times and stores the cases that match", "[slow]") {
    const TinySweep sweep("");
    const std::filesystem::path root = sweep.folder.path / "runs", json = sweep.folder.path / "bench.json",
                                page = sweep.folder.path / "bench.html";
    const Ran ran = sweep.deft("bench", {"run", "-k", "gather_rows/16/*", "--threads", "1", "--min-time", "0.001",
                                         "--repetitions", "3", "--root", root, "--json-file", json, "--html", page});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("gather_rows/16/128/64/128/indexed") && ContainsSubstring("cold") &&
                            ContainsSubstring("compared with the double-precision reference"));
    CHECK(Json::parse(read_file(json)).at("benchmarks").size() >= 6);
    CHECK_THAT(read_file(page), ContainsSubstring("<h3>cpu, hot</h3>") && ContainsSubstring("<h3>cpu, cold</h3>") &&
                                    ContainsSubstring("gather_rows/16/128/64/128/indexed") &&
                                    ContainsSubstring("Peaks measured in this run on 1 thread(s)"));
    const Ran lost = sweep.deft("bench", {"run", "--root", root, "--html", sweep.folder.path / "none" / "bench.html"});
    CHECK(lost.exit_code == kExitUsage);
    CHECK_THAT(lost.err, ContainsSubstring("none does not exist"));
    const auto rows = results_db::Reader(root / "results.db").benches();
    REQUIRE(rows.size() == 2);
    for (const results_db::BenchRow& row : rows) {
        CHECK(row.kernel == "gather_rows");
        CHECK(row.seconds.size() == 3);
        CHECK(row.verified);
    }
    const Ran none = sweep.deft("bench", {"run", "-k", "no_such_*", "--root", root});
    CHECK(none.exit_code != kExitOk);
    CHECK_THAT(none.err, ContainsSubstring("no case matches no_such_*") && ContainsSubstring("deft bench list"));
    const Ran mistyped = sweep.deft("bench", {"run", "-k", "gahter_*", "--root", root});
    CHECK_THAT(mistyped.err, ContainsSubstring("did you mean gather_*?"));
}

TEST_CASE("deft bench run takes a text and a dataset of the user's own") {
    const TinySweep sweep("");
    const std::filesystem::path text = sweep.folder.write("own.txt", "Some words, again and again. Some words.\n");
    const std::filesystem::path prefix = sweep.folder.path / "own", root = sweep.folder.path / "runs";
    REQUIRE(sweep.deft("data", {"tokenize", "--text", text, "--out", prefix}).exit_code == kExitOk);
    const Ran ran = sweep.deft("bench", {"run", "--text", text, "--corpus", prefix, "--threads", "1", "--min-time",
                                         "0.001", "--repetitions", "2", "--root", root});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out,
               ContainsSubstring("tokenizer/bytes/own.txt") && ContainsSubstring("corpus/open/own") &&
                   ContainsSubstring("ratio: items a second of corpus/read/own over those of corpus/memory/own"));
    CHECK(results_db::Reader(root / "results.db").benches().size() == 5);
    const Ran alone = sweep.deft("bench", {"run", "--tokenizer", prefix, "--root", root});
    CHECK(alone.exit_code == kExitUsage);
    CHECK_THAT(alone.err, ContainsSubstring("name a file with --text"));
}

TEST_CASE("deft bench run reports a thousand finished trials, and runs their sweep again", "[slow]") {
    const TinySweep sweep("");
    const Ran ran = sweep.deft("bench", {"run", "-k", "report/*", "--threads", "1", "--min-time", "0.001",
                                         "--repetitions", "1", "--root", sweep.folder.path / "runs"});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("report/screen/1000/200") && ContainsSubstring("report/page/1000/200") &&
                            ContainsSubstring("report/finished_run/1000/200") &&
                            ContainsSubstring("filling the database took") && ContainsSubstring("a page of"));
}

TEST_CASE("deft bench takes the backends that are there, and says what one that is not there needs", "[slow]") {
    const TinySweep sweep("");
    const Ran cpu = sweep.deft("bench", {"list", "--backend", "cpu", "-k", "gather_rows/16/*"});
    CHECK(cpu.exit_code == kExitOk);
    CHECK_THAT(cpu.out, ContainsSubstring("gather_rows/16/128/64/128/indexed") && !ContainsSubstring("cuda"));
    const Ran all = sweep.deft("bench", {"list", "-k", "gather_rows/16/*"});
    const Ran cuda = sweep.deft("bench", {"list", "--backend", "cuda", "-k", "gather_rows/16/*"});
    const Ran unknown = sweep.deft("bench", {"list", "--backend", "tpu"});
    CHECK(unknown.exit_code == kExitUsage);
    CHECK(all.exit_code == kExitOk);
    if (const std::string problem = engine::gpu_problem(); problem.empty()) {
        CHECK_THAT(all.out, ContainsSubstring("cpu") && ContainsSubstring("cuda-bf16"));
        CHECK_THAT(cuda.out, ContainsSubstring("cuda-f32"));
    } else {
        CHECK(all.out == cpu.out);
        CHECK(cuda.exit_code == kExitNothing);
        CHECK_THAT(cuda.err, ContainsSubstring("no GPU can be used: " + problem) && ContainsSubstring("--backend cpu"));
    }
}

TEST_CASE("deft profile breaks down a step of a sweep's trial, and writes a trace") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const std::filesystem::path trace = sweep.folder.path / "trace.json", page = sweep.folder.path / "step.html";
    const Ran ran = sweep.deft("profile", {sweep.file.string(), "--steps", "2", "--threads", "1", "--root",
                                           sweep.folder.path / "runs", "--trace", trace, "--html", page});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("linear_backward_weight") && ContainsSubstring("no op") &&
                            ContainsSubstring("of roofline"));
    CHECK(Json::parse(read_file(trace)).at("traceEvents").size() > 10);
    CHECK_THAT(ran.out, ContainsSubstring("page: " + page.string()));
    CHECK_THAT(read_file(page), ContainsSubstring("<title>backward linear_backward_weight ") &&
                                    ContainsSubstring("% of its ") && ContainsSubstring("-bound "));
}

TEST_CASE("The shares of a profile are of one step and add up to 100, where every step has shapes of its own") {
    const TinySweep sweep(
        "[[case]]\nname = \"growing\"\n[case.curriculum.seqtru]\nmin = 4\ndifficulty_step = 1\nduration = 0.9\n");
    const Ran ran = sweep.deft("profile", {sweep.file.string(), "--step", "12", "--steps", "5", "--threads", "1",
                                           "--root", sweep.folder.path / "runs"});
    CHECK(ran.exit_code == kExitOk);
    double shares = 0;
    int rows = 0;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
        // phase, op, ..., "12.3%" of the step, FLOP/s, B/s, of roofline
        if (!line.starts_with("forward ") && !line.starts_with("backward ") && !line.starts_with("update ") &&
            !line.starts_with("- "))
            continue;
        const std::size_t percent = line.find('%'), start = line.rfind(' ', percent) + 1;
        REQUIRE(percent != std::string::npos);
        shares += std::stod(line.substr(start, percent - start));
        ++rows;
        if (line.starts_with("- ")) break;  // the last row; notes follow
    }
    CHECK(rows > 10);
    CHECK(shares == Approx(100).margin(0.05 * rows));
    const std::string step = ran.out.substr(ran.out.find("Training step ") + 14, 2);
    CHECK((step >= "12" && step <= "16"));
}

TEST_CASE("deft bench step compares a sweep's model with its techniques, and stores every round") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const std::filesystem::path root = sweep.folder.path / "runs";
    const Ran ran = sweep.deft("bench", {"step", "--sweep", sweep.file.string(), "--case", "plain", "--rounds", "8",
                                         "--segment", "0.001", "--threads", "1", "--seed", "9", "--root", root});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("baseline") && ContainsSubstring("seqtru") &&
                            ContainsSubstring("time/FLOPs") && ContainsSubstring("seed 9"));
    const auto rows = results_db::Reader(root / "results.db").benches();
    REQUIRE(rows.size() >= 2);
    for (const results_db::BenchRow& row : rows) CHECK(row.seconds.size() == 7);
}

TEST_CASE("deft bench startup starts real trials") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const Ran ran = sweep.deft("bench", {"startup", sweep.file.string(), "--rounds", "2"});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("to the first step") && ContainsSubstring("of steps"));
}

TEST_CASE("deft bench slots sets trials side by side against one on all threads") {
    const TinySweep sweep("");
    const std::filesystem::path root = sweep.folder.path / "runs";
    const Ran ran =
        sweep.deft("bench", {"slots", "--models", "1", "--rounds", "2", "--segment", "0.01", "--root", root});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("side by side / one") && ContainsSubstring("The scheduler's rule"));
    CHECK(results_db::Reader(root / "results.db").benches().size() == 2);
}
