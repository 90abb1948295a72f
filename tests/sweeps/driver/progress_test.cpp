#include "sweeps/driver/progress.h"

#include "reporting/text.h"
#include "tests/sweeps/files.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

ProgressView busy() {
    ProgressView view;
    view.sweep = "quickstart";
    view.done = 3;
    view.running = 2;
    view.failed = 1;
    view.left = 6;
    view.seconds_left = 125;
    view.elapsed_seconds = 61;
    view.usd = 0.0123;
    view.slots.resize(3);
    view.slots[0] = {true, "baseline/1", 40, 80, 5.25, 12'345, 9};
    view.slots[1] = {true, "cl\x1b[31m/2", 0, 0, 0, 0, 0};
    return view;
}

// The text that a Progress wrote into a plain file.
std::string written(ProgressMode mode, const std::function<void(Progress&)>& action) {
    const test::Folder folder;
    std::FILE* file = std::fopen((folder.path / "out").c_str(), "w");
    REQUIRE(file != nullptr);
    {
        Progress progress(mode, file);
        action(progress);
    }
    std::fclose(file);
    return read_file(folder.path / "out");
}

}  // namespace

TEST_CASE("The live block: a header and a line a slot") {
    const auto lines = render_live(busy(), {100, false, false});
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] == "quickstart: 3 done, 2 running, 1 failed, 6 left, ETA 2m05s, $0.012");
    CHECK(lines[1] == "  baseline/1  ##########..........  40/80  loss 5.2500  12.3k tok/s  9.0s left");
    CHECK_THAT(lines[2], ContainsSubstring("starting"));
    CHECK_THAT(lines[3], ContainsSubstring("idle"));
    for (const std::string& line : lines) CHECK(line.find('\x1b') == std::string::npos);
}

TEST_CASE("The live block says what a queued trial waits for") {
    ProgressView view = busy();
    view.queued = 1;
    view.slots[2] = view.slots[1];
    view.slots[2].is_queued = true;
    const auto line = [&](const std::string& reason) {
        view.slots[2].waits_for = reason;
        return render_live(view, {100, false, false})[3];
    };
    CHECK(line("Priority").ends_with("queued: Priority"));
    CHECK(line("").ends_with("queued"));
    CHECK(line("\x1b[31m").find('\x1b') == std::string::npos);
    CHECK_THAT(render_summary(view), ContainsSubstring("3 done, 2 running, 1 queued, 1 failed, 6 left, ETA"));
}

TEST_CASE("The live block never wraps, at any width") {
    for (int width = 1; width < 120; ++width)
        for (const bool unicode : {false, true})
            for (const std::string& line : render_live(busy(), {width, unicode, false}))
                CHECK(reporting::display_width(line) <= std::max(1, width - 1));
}

TEST_CASE("Bars fill by eighths where the terminal can show them") {
    ProgressView view = busy();
    view.slots[0].step = 41;  // 10.25 cells of 20
    CHECK_THAT(render_live(view, {100, true, false})[1], ContainsSubstring("██████████▎·········"));
    view.slots[0].step = 80;
    CHECK_THAT(render_live(view, {100, true, false})[1], ContainsSubstring("evaluating"));
}

TEST_CASE("Plain progress writes state changes and no escape sequences") {
    const std::string text = written(ProgressMode::automatic, [](Progress& progress) {
        progress.event("start a/1");
        for (int i = 0; i < 100; ++i) progress.update(busy());
        progress.warning("failed a/1");
    });
    CHECK(text == "start a/1\nfailed a/1\n");
    CHECK(render_summary(busy()) == "quickstart: 3 done, 2 running, 1 failed, 6 left, ETA 2m05s, 1m01s so far, $0.012");
}

TEST_CASE("No progress still shows what went wrong") {
    CHECK(written(ProgressMode::none, [](Progress& progress) {
              progress.event("start");
              progress.update(busy());
              progress.warning("failed");
          }) == "failed\n");
}

TEST_CASE("Live progress repaints in place and takes its block away") {
    const std::string text = written(ProgressMode::live, [](Progress& progress) {
        progress.update(busy());
        progress.event("ok a/1");
    });
    // Four lines up, erased, the event, and the block again; at the end the block goes.
    CHECK_THAT(text, ContainsSubstring("\x1b[4A\r\x1b[Jok a/1\n"));
    CHECK(text.ends_with("\x1b[4A\r\x1b[J"));
}

TEST_CASE("A way to show progress that is not there is refused") {
    CHECK(test::refusal(ErrorKind::usage, [] { parse_progress_mode("loud"); }) != "accepted");
}
