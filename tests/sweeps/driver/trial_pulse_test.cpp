// Whether a trial keeps its promises: what counts as a line, and which time counts.

#include "sweeps/driver/trial_pulse.h"

#include <chrono>
#include <fstream>
#include <thread>

#include "base/journal.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

void pass(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

struct LeaseFile {
    void append(const std::string& text) const { std::ofstream(file, std::ios::app) << text; }

    test::TemporaryFolder folder;
    std::filesystem::path file = folder.path() / "journal.jsonl";
};

}  // namespace

TEST_CASE("a lease is what a trial promises, and every whole line breaks the silence") {
    const LeaseFile journal;
    TrialPulse pulse(5);
    pass(30);
    pulse.look(journal.file);
    CHECK(pulse.silent() >= 0.03);
    CHECK(pulse.overdue() == Approx(pulse.silent() - 5));
    CHECK(pulse.doing() == "starting");
    journal.append(to_json(journal::Lease{1000, 3000, "training"}).dump() + "\n");
    pulse.look(journal.file);
    CHECK(pulse.silent() == 0);
    CHECK(pulse.promised() == 2);
    CHECK(pulse.doing() == "training");
    pass(30);
    journal.append("{\"type\":");
    pulse.look(journal.file);
    CHECK(pulse.silent() >= 0.03);
    journal.append("\"other\"}\n");
    pulse.look(journal.file);
    CHECK(pulse.silent() == 0);
    CHECK(pulse.promised() == 2);
}

TEST_CASE("a trial that has written its last line promises to end soon, whatever it promised before") {
    const LeaseFile journal;
    TrialPulse pulse(5);
    journal.append(to_json(journal::Lease{1000, 61000, "saving a checkpoint"}).dump() + "\n");
    journal.append(to_json(journal::Ended{}).dump() + "\n");
    pulse.look(journal.file);
    CHECK(pulse.promised() == 10);
    CHECK(pulse.doing() == "ending");
}

TEST_CASE("time that nobody watched does not count") {
    const LeaseFile journal;
    TrialPulse pulse(5);
    pass(3000);
    pulse.look(journal.file);
    CHECK(pulse.silent() == Approx(2));
    pass(100);
    pulse.rest();
    pulse.look(journal.file);
    CHECK(pulse.silent() == Approx(2).margin(0.05));
}
