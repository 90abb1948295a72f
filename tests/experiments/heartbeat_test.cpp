// A trial's promises in its journal: how long, and when a promise is made longer or shorter.

#include "experiments/heartbeat.h"

#include <chrono>
#include <sstream>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;

namespace {

void pass(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

struct PromisingTrial {
    explicit PromisingTrial(int ranks)
        : heartbeat(
              journal, [this] { return stop; }, ranks) {}

    // Seconds of each promise so far.
    std::vector<double> promises() const {
        std::vector<double> seconds;
        std::istringstream lines(read_file(file));
        for (std::string line; std::getline(lines, line);) {
            const Json lease = Json::parse(line);
            seconds.push_back(lease.at("until_ms").get<double>() / 1000 - lease.at("time_ms").get<double>() / 1000);
        }
        return seconds;
    }
    // The current promise, as reported to the process that stops the trial.
    double promised() {
        stop = true;
        CHECK(heartbeat.stopping());
        return promises().back();
    }

    test::TemporaryFolder folder;
    std::filesystem::path file = folder.path() / "journal.jsonl";
    journal::Writer journal{file};
    bool stop = false;
    Heartbeat heartbeat;
};

}  // namespace

TEST_CASE("a trial alone promises a minute at least, and never less than it had planned") {
    PromisingTrial trial(1);
    trial.heartbeat.begin_pieces("training", 100, 1);
    trial.heartbeat.beat();
    CHECK(trial.promises().size() == 1);
    CHECK(trial.promised() == Approx(100));
    trial.heartbeat.begin_pieces("training", 1, 1);
    CHECK(trial.promises().back() == Approx(60));
}

TEST_CASE("ranks promise half a minute at least of what they compute together, and a minute of what goes to a disk") {
    PromisingTrial trial(2);
    trial.heartbeat.begin_pieces("training", 1, 1);
    CHECK(trial.promises().back() == Approx(30));
    trial.heartbeat.begin("saving a checkpoint", 1);
    CHECK(trial.promises().back() == Approx(60));
    trial.heartbeat.beat();
    CHECK(trial.promised() == Approx(60));
}

TEST_CASE("ranks promise what they planned until a piece is done, and what was measured from then on, at once") {
    PromisingTrial trial(2);
    trial.heartbeat.begin_pieces("training", 1000, 2);
    CHECK(trial.promises().back() == Approx(1000));
    trial.heartbeat.beat();
    CHECK(trial.promises().size() == 2);
    CHECK(trial.promises().back() == Approx(30));
    trial.heartbeat.beat();
    CHECK(trial.promises().size() == 2);
    CHECK(trial.promised() == Approx(30));
}

TEST_CASE("pieces that grow are promised as much longer, up to what was planned") {
    PromisingTrial some(2), many(2);
    some.heartbeat.begin_pieces("training", 1000, 100);
    many.heartbeat.begin_pieces("training", 1000, 1e6);
    pass(50);
    some.heartbeat.beat();
    many.heartbeat.beat();
    const double promised = some.promised();
    CHECK(promised >= 10 * 100 * 0.05);
    CHECK(promised < 500);
    CHECK(many.promised() == Approx(1000));
}

TEST_CASE("a piece that took long makes the promise of ranks longer than planned") {
    PromisingTrial trial(2);
    trial.heartbeat.begin_pieces("training", 5, 1);
    pass(3100);
    trial.heartbeat.beat();
    trial.heartbeat.beat();
    CHECK(trial.promised() >= 31);
}
