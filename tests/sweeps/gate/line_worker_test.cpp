// A worker is asked a line at a time, and what it does wrong is named with how to fix it.

#include "sweeps/gate/line_worker.h"

#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

WorkerProgram shell(const std::string& script) {
    return {{"sh", "-c", script}, "sh could not train", "name a shell that trains"};
}

// Answers "step N" with a hundredth of N seconds, and other lines with what they are.
const char* const kWorker = R"sh(echo '{"version": "1.2", "modes": ["eager"]}'
while read -r what times; do
    if [ "$what" = step ]; then echo "{\"seconds\": 0.0$times}"; else echo "{\"what\": \"$what\"}"; fi
done)sh";

}  // namespace

TEST_CASE("a worker says what it is, runs what it is asked for, and answers other lines") {
    LineWorker worker(shell(kWorker));
    CHECK(worker.said<std::string>("version") == "1.2");
    CHECK(worker.said<std::vector<std::string>>("modes") == std::vector<std::string>{"eager"});
    CHECK(worker.run("step", 4) == Approx(0.04));
    CHECK(worker.runs("step")(2) == Approx(0.02));
    CHECK(worker.part<std::string>(worker.ask("gemm 1"), "what") == "gemm");
}

TEST_CASE("several workers run at the same time") {
    LineWorker one(shell(kWorker)), other(shell(kWorker));
    one.begin("step", 3);
    other.begin("step", 5);
    CHECK(one.seconds() == Approx(0.03));
    CHECK(other.seconds() == Approx(0.05));
}

TEST_CASE("what a worker does wrong is an error of who could not do what") {
    const auto refused = [](const std::function<void()>& act) { return test::refusal(ErrorKind::io, act); };
    LineWorker worker(shell(kWorker));
    CHECK_THAT(refused([&] { worker.said<double>("first_loss"); }), ContainsSubstring("sh could not train (") &&
                                                                        ContainsSubstring("first_loss") &&
                                                                        ContainsSubstring("name a shell that trains"));
    CHECK_THAT(refused([&] { worker.said<double>("version"); }), ContainsSubstring("sh could not train ("));
    CHECK_THAT(refused([&] { worker.run("jump", 1); }), ContainsSubstring("seconds"));
    CHECK_THAT(refused([] { LineWorker(shell("echo no torch >&2; exit 3")); }),
               ContainsSubstring("exit code 3: no torch"));
    CHECK_THAT(refused([] { LineWorker(shell("echo hello")); }), ContainsSubstring("no JSON but hello"));
}
