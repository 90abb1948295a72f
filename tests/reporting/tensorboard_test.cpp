// Event files of TensorBoard: checksums, records, messages and folders.

#include <cmath>
#include <string>
#include <vector>

#include "reporting/views/tensorboard/event_files.h"
#include "reporting/views/tensorboard/event_records.h"
#include "tests/catch.h"
#include "tests/little_endian.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;
using deft::test::little_endian;

namespace {

Trial a_curved_trial(const char* recipe = "CL", const char* axes = kHalfBudget) {
    Trial trial = a_finished_trial(recipe, axes, 1, 3.25);
    trial.started_ms = 1'700'000'000'000;
    trial.scores.front().step = 8;
    return trial;
}

results_db::TrialCurve a_curve() {
    results_db::TrialCurve curve;
    for (const std::int64_t step : {4, 8}) {
        journal::TrainPoint point;
        point.step = step;
        point.input_tokens = step * 10;
        point.wall_ms = step * 500;
        point.loss = step == 4 ? 5.5 : std::nan("");
        curve.points.push_back(point);
    }
    curve.validation_losses = {{8, 3.25}};
    return curve;
}

// The lengths in the records' headers lead from one to the next, up to the end.
std::vector<std::string> records_of(const std::string& bytes) {
    std::vector<std::string> records;
    for (std::size_t at = 0; at < bytes.size();) {
        std::uint64_t length = 0;
        for (std::size_t i = 0; i < 8; ++i)
            length |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes.at(at + i))) << 8 * i;
        records.push_back(bytes.substr(at + 12, length));
        CHECK(tf_record(records.back()) == bytes.substr(at, length + 16));
        at += length + 16;
    }
    return records;
}

}  // namespace

TEST_CASE("CRC-32C has the values of RFC 3720") {
    CHECK(crc32c("") == 0);
    CHECK(crc32c("123456789") == 0xE3069283);
    CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AA);
    CHECK(crc32c(std::string(32, '\xff')) == 0x62A8AB43);
    std::string rising;
    for (int i = 0; i < 32; ++i) rising.push_back(static_cast<char>(i));
    CHECK(crc32c(rising) == 0x46DD794E);
}

TEST_CASE("A record has its length, and both checksums rotated and shifted") {
    const auto masked = [](const std::string& bytes) {
        const std::uint32_t crc = crc32c(bytes);
        return little_endian(((crc >> 15) | (crc << 17)) + 0xA282EAD8u, 4);
    };
    const std::string length = little_endian(9, 8);
    CHECK(tf_record("123456789") == length + masked(length) + "123456789" + masked("123456789"));
    CHECK(masked("123456789") == little_endian(0xC78AB0E5u, 4));
    CHECK(tf_record("").size() == 16);
}

TEST_CASE("Messages have the fields of Event and Summary, by hand") {
    using namespace std::string_literals;
    // Field 1, a double of 1.5; field 3, the version.
    CHECK(version_event(1.5) == "\x09\0\0\0\0\0\0\xf8\x3f\x1a\x0d"s + "brain.Event:2");
    // Step 300 takes two bytes; the summary has one value of tag "a" and 0.5f.
    CHECK(scalar_event({0, 300}, "a", 0.5) ==
          "\x09\0\0\0\0\0\0\0\0\x10\xac\x02\x2a\x0a\x0a\x08\x0a\x01\x61\x15\0\0\0\x3f"s);
    const std::string text = text_event({0, 0}, "t", "words");
    CHECK(text.find("\x0a\x06\x0a\x04text\x20\x02"s) != std::string::npos);
    CHECK(text.find("\x08\x07\x12\x00\x42\x05words"s) != std::string::npos);
}

TEST_CASE("A trial's file has its version, the trial in words, and each number at its step and time") {
    Trial trial = a_curved_trial();
    set_configuration(trial, R"({"local":{"base_folder":"/home/me"},"model":{"seqlen":64}})");
    const std::string bytes = event_file_bytes(trial, a_curve());
    CHECK(bytes == event_file_bytes(trial, a_curve()));
    const std::vector<std::string> records = records_of(bytes);
    REQUIRE(records.size() == 2 + 2 * 11 + 1 + 1);
    const double start = 1.7e9;
    CHECK(records[0] == version_event(start));
    CHECK_THAT(records[1], ContainsSubstring("| recipe | CL |"));
    CHECK_THAT(records[1], ContainsSubstring("\"seqlen\": 64"));
    CHECK(records[1].find("/home/me") == std::string::npos);
    CHECK(records[2] == scalar_event({start + 2, 4}, "train/loss", 5.5));
    CHECK(records[2 + 11] == scalar_event({start + 4, 8}, "train/loss", std::nan("")));
    CHECK(records[2 + 6] == scalar_event({start + 2, 4}, "cost/input_tokens", 40));
    CHECK(records[2 + 22] == scalar_event({start + 4, 8}, "validation/loss", 3.25));
    CHECK(records[2 + 23] == scalar_event({start, 8}, "score/validation/loss/test", 3.25));
}

TEST_CASE("Folders of runs have the trials' names without what leads elsewhere, each once") {
    Results sweep = a_sweep_of({a_curved_trial("CL"), a_curved_trial("../../CL", "{}"), a_curved_trial("a/b", "{}"),
                                a_curved_trial("a\nb", "{}"), a_curved_trial("a\\b", "{}"), a_curved_trial(".", "{}"),
                                a_curved_trial(std::string(300, 'x').c_str(), "{}")});
    sweep.trials.push_back(a_curved_trial("pending"));
    sweep.trials.back().scores.clear();
    sweep.searched = {a_curved_trial("plain", "{}")};
    sweep.searched.front().stage = "search";
    std::vector<std::string> folders;
    for (const EventFile& file : event_files(sweep, {})) {
        folders.push_back(file.folder);
        CHECK(file.name == "events.out.tfevents.1700000000.deft");
        const std::size_t slash = file.folder.find('/');
        CHECK(file.folder.find('/', slash + 1) == std::string::npos);
        CHECK(slash < 256);
    }
    REQUIRE(folders.size() == 8);
    CHECK(folders[0] == "CL[budget_fraction=0.5]/1");
    CHECK(folders[1] == "_.._.._CL/1");
    CHECK(folders[2] == "a_b/1");
    CHECK(folders[3].starts_with("a_b/1-"));
    CHECK(folders[4].starts_with("a_b/1-"));
    CHECK(folders[3] != folders[4]);
    CHECK(folders[5] == "_./1");
    CHECK(folders[7] == "plain:search/1");
}
