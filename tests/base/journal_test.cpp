#include "base/journal.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/json.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/small_disk.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::journal;
using test::read_text;
using test::refusal;
using test::TemporaryFolder;
using test::write_text;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Record>
Record round_trip(const Record& record) {
    Record read;
    from_json(Json::parse(to_json(record).dump()), read);
    return read;
}

}  // namespace

TEST_CASE("every journal record survives its line", "[bare]") {
    const Started started{1700000000123, 42, "corpus", "abcd", 1000, 250, 100, 60000, "cafe", 40, "a note"};
    CHECK(to_json(round_trip(started)) == to_json(started));
    CHECK(to_json(started)["type"] == "started");

    const TrainPoint point{7, 700, 650, 500, 1.25e12, 3500, 3.4567890123456789, 1e-3, 0.5, 200.25, 128, 64};
    CHECK(to_json(round_trip(point)) == to_json(point));
    CHECK(round_trip(point).loss == point.loss);
    CHECK(to_json(point)["type"] == "train");

    const Evaluation score{7, "validation", "1", "valid", 0, "loss", "nats/token", "lower", 3.5, 20, kNaN, 0.25};
    const Evaluation read = round_trip(score);
    CHECK(read.task == "validation");
    CHECK(std::isnan(read.standard_error));
    CHECK(read.chance == 0.25);

    const Sampling sampling{7, 90, 300, 12, 40, 5, {3.5, 0}};
    CHECK(to_json(round_trip(sampling)) == to_json(sampling));
    CHECK(to_json(sampling)["type"] == "sampling");
    Json not_numbers = to_json(sampling);
    not_numbers["epochs"] = {1, "two"};
    Sampling unread;
    CHECK_THAT(refusal(ErrorKind::io, [&] { from_json(not_numbers, unread); }),
               ContainsSubstring("not an array of numbers"));

    const ExpertLoad experts{7, 3, {0.5, 0.25, 0.25, 0}, 0.125, 1.25, 1.5, 0.75};
    CHECK(to_json(round_trip(experts)) == to_json(experts));
    CHECK(round_trip(experts).load == experts.load);
    CHECK(round_trip(experts).layer == 3);
    Json before_all = to_json(experts);
    before_all["layer"] = -1;
    ExpertLoad unread_experts;
    CHECK_THAT(refusal(ErrorKind::io, [&] { from_json(before_all, unread_experts); }),
               ContainsSubstring("'layer'") && ContainsSubstring("negative"));

    const Artifact artifact{"checkpoint", "ckpt/7", "ff", 12, "last", 7};
    CHECK(to_json(round_trip(artifact)) == to_json(artifact));
    const Lease lease{5, 6, "training"};
    CHECK(round_trip(lease).until_ms == 6);
    const Ended ended{9, "failed", "nan", "loss is \"NaN\"\nat step 3", 1.5, 1.25, 0.5, 3e9, 2, 1 << 20, 2.25};
    CHECK(round_trip(ended).error == ended.error);
    CHECK(to_json(ended)["type"] == "ended");
}

TEST_CASE("journal lines keep their form: older ones are read again, by newer programs too", "[bare]") {
    CHECK(
        to_json(Started{1700000000123, 42, "corpus", "abcd", 1000, 250, 100, 60000, "cafe", 40, "a note", 1.5,
                        "a new head", 20000, 0.75, "block"})
            .dump() ==
        R"({"active_parameters":20000,"config_hash":"cafe","dataset_bytes":1000,"dataset_name":"corpus",)"
        R"("dataset_sha256":"abcd","dataset_tokens":250,"note":"a note","parameters":60000,"pid":42,"recompute":"block",)"
        R"("resume_seconds":1.5,"resume_step":40,"start_note":"a new head","start_seconds":0.75,"time_ms":1700000000123,)"
        R"("total_steps":100,"type":"started"})");
    Json before_experts = to_json(Started{});
    before_experts.erase("start_note");
    before_experts.erase("active_parameters");
    before_experts.erase("start_seconds");
    before_experts.erase("recompute");
    Started read_before;
    from_json(before_experts, read_before);
    CHECK(read_before.active_parameters == 0);
    CHECK(to_json(TrainPoint{7, 700, 650, 500, 1.25e12, 3500, kNaN, -kInfinity, kInfinity, 200.25, 128, 64}).dump() ==
          R"({"expert_bytes":0,"flops":1250000000000.0,"grad_norm":"Infinity","input_tokens":700,"kept_tokens":64,)"
          R"("layer_tokens":500,"loss":"NaN","lr":"-Infinity","sent_bytes":0,"seqlen":128,"step":7,)"
          R"("tokens_per_second":200.25,"type":"train","unique_tokens":650,"wall_ms":3500})");
    CHECK(to_json(Sampling{7, 90, 300, 12, 40, 5, {3.5, 0}}).dump() ==
          R"({"epochs":[3.5,0.0],"pool":90,"samples_drawn":300,"samples_repeated":12,"step":7,)"
          R"("tokens_cut":40,"tokens_padded":5,"type":"sampling"})");
    CHECK(to_json(ExpertLoad{7, 3, {0.5, 0.25, 0.25, 0}, 0.125, 1.25, 1.5, kInfinity}).dump() ==
          R"({"balance_loss":1.5,"dropped":0.125,"entropy":1.25,"layer":3,"load":[0.5,0.25,0.25,0.0],)"
          R"("step":7,"type":"experts","z_loss":"Infinity"})");
    CHECK(to_json(Evaluation{7, "validation", "1", "valid", 0, "loss", "nats/token", "lower", 3.5, 20, kNaN, 0.25})
              .dump() ==
          R"({"better":"lower","chance":0.25,"metric":"loss","n":20,"score_key":"","shots":0,"split":"valid",)"
          R"("standard_error":"NaN","step":7,"task":"validation","task_version":"1","type":"evaluation",)"
          R"("unit":"nats/token","value":3.5})");
    CHECK(
        to_json(Scored{"ab", "piqa", "cd", 10, 200, 7, "ef", 1.5, 0.25, 9.5, "x", "gh", 2}).dump() ==
        R"({"cut_share":0.25,"definition_sha256":"gh","documents":200,"items":"x","mean_shots":9.5,)"
        R"("model_sha256":"ef","score_key":"ab","scoring_version":2,"seconds":1.5,"shots":10,"step":7,"task":"piqa","task_sha256":"cd","type":"scored"})");
    CHECK(round_trip(Scored{"ab", "piqa", "cd", 10, 200, 7, "ef", 1.5, 0.25, 9.5, "x"}).mean_shots == 9.5);
    CHECK(to_json(Artifact{"checkpoint", "ckpt/7", "ff", 12, "last", 7}).dump() ==
          R"({"bytes":12,"kind":"checkpoint","path":"ckpt/7","role":"last","sha256":"ff","step":7,)"
          R"("type":"artifact"})");
    CHECK(to_json(Lease{5, 6, "training"}).dump() == R"({"doing":"training","time_ms":5,"type":"lease","until_ms":6})");
    CHECK(to_json(Ended{9, "failed", "nan", "no", 1.5, 1.25, 0.5, 3e9, 2, 1 << 20, 2.25, 0.25}).dump() ==
          R"({"cpu_seconds":2.25,"error":"no","eval_seconds":0.5,"fail_class":"nan","flops":3000000000.0,)"
          R"("peak_rss_bytes":1048576,"state":"failed","step_seconds":1.25,"threads":2,"time_ms":9,)"
          R"("train_seconds":1.5,"type":"ended","waited_seconds":0.25})");
    Json before_waits = to_json(Ended{});
    before_waits["state"] = "ok";
    before_waits.erase("waited_seconds");
    Ended not_measured;
    from_json(before_waits, not_measured);
    CHECK(not_measured.waited_seconds == -1);
    CHECK(to_json(Spent{5, 6, 1.5, 0.5, 0.25}).dump() ==
          R"({"eval_seconds":0.5,"step":6,"time_ms":5,"train_seconds":1.5,"type":"spent","waited_seconds":0.25})");
    CHECK(to_json(round_trip(Spent{5, 6, 1.5, 0.5, 0.25})) == to_json(Spent{5, 6, 1.5, 0.5, 0.25}));
}

TEST_CASE("numbers that JSON lacks travel as strings", "[bare]") {
    TrainPoint point;
    point.loss = kNaN;
    point.grad_norm = kInfinity;
    point.lr = -kInfinity;
    const Json line = to_json(point);
    CHECK(line["loss"] == "NaN");
    CHECK(line["grad_norm"] == "Infinity");
    CHECK(line["lr"] == "-Infinity");
    const TrainPoint read = round_trip(point);
    CHECK(std::isnan(read.loss));
    CHECK(read.grad_norm == kInfinity);
    CHECK(read.lr == -kInfinity);
    point.head_names = {"token", "order"};
    point.head_losses = {kNaN, 2.5};
    CHECK(to_json(point)["head_losses"].dump() == R"(["NaN",2.5])");
    CHECK(std::isnan(round_trip(point).head_losses.at(0)));
    CHECK(round_trip(point).head_losses.at(1) == 2.5);
}

TEST_CASE("a journal line of another type or shape is an io error that names the field", "[bare]") {
    TrainPoint point;
    CHECK_THAT(refusal(ErrorKind::io, [&] { from_json(to_json(Lease{}), point); }),
               ContainsSubstring("'lease' where 'train'"));
    Json line = to_json(TrainPoint{});
    line.erase("loss");
    CHECK_THAT(refusal(ErrorKind::io, [&] { from_json(line, point); }),
               ContainsSubstring("'loss'") && ContainsSubstring("missing"));
    line = to_json(TrainPoint{});
    line["step"] = 1.5;
    CHECK_THAT(refusal(ErrorKind::io, [&] { from_json(line, point); }), ContainsSubstring("'step'"));
    line["step"] = 18446744073709551615u;
    CHECK_THAT(refusal(ErrorKind::io, [&] { from_json(line, point); }), ContainsSubstring("'step'"));
    CHECK_THAT(refusal(ErrorKind::io, [&] { from_json(Json::array(), point); }),
               ContainsSubstring("not a JSON object"));
    Evaluation score;
    CHECK_THAT(refusal(ErrorKind::io, [&] { from_json(to_json(Evaluation{}), score); }), ContainsSubstring("'better'"));
}

TEST_CASE("the journal writer appends whole lines", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "journal.jsonl";
    {
        Writer writer(file);
        writer.write(Lease{1, 2, ""});
        writer.sync();
    }
    Writer writer(file);
    writer.write(Lease{3, 4, ""});
    CHECK(read_text(file) == to_json(Lease{1, 2, ""}).dump() + "\n" + to_json(Lease{3, 4, ""}).dump() + "\n");
}

TEST_CASE("the journal writer cuts a torn last line", "[bare]") {
    const TemporaryFolder folder;
    const auto file = folder / "journal.jsonl";
    const std::string whole = to_json(Lease{1, 2, ""}).dump() + "\n";
    SECTION("after a whole line") {
        write_text(file, whole + R"({"type":"tr)");
        Writer writer(file);
        writer.write(Lease{1, 2, ""});
        CHECK(read_text(file) == whole + whole);
    }
    SECTION("longer than one block") {
        write_text(file, whole + std::string(10000, 'x'));
        const Writer writer(file);
        CHECK(read_text(file) == whole);
    }
    SECTION("the only one") {
        write_text(file, std::string(5000, 'x'));
        const Writer writer(file);
        CHECK(read_text(file).empty());
    }
}

TEST_CASE("the journal writer replaces bytes that are no UTF-8", "[bare]") {
    const TemporaryFolder folder;
    Writer writer(folder / "journal.jsonl");
    Ended ended;
    ended.state = "failed";
    ended.error = "bad \xff byte";
    writer.write(ended);
    Ended read;
    from_json(Json::parse(read_text(folder / "journal.jsonl")), read);
    CHECK(read.error == "bad \xEF\xBF\xBD byte");
}

TEST_CASE("the journal writer reports help where it cannot write", "[bare]") {
    const TemporaryFolder folder;
    CHECK_THAT(refusal(ErrorKind::io, [&] { const Writer writer(folder / "absent/journal.jsonl"); }),
               ContainsSubstring("absent/journal.jsonl") && ContainsSubstring("No such file"));
    if (!std::filesystem::exists("/dev/full")) DEFT_SKIP("there is no /dev/full");
    Writer writer("/dev/full");
    CHECK_THAT(refusal(ErrorKind::io, [&] { writer.write(Lease{}); }),
               ContainsSubstring("/dev/full") && ContainsSubstring("No space left") &&
                   ContainsSubstring("free space under /dev and run the same command again"));
}

TEST_CASE("a full disk leaves the journal's whole lines", "[bare]") {
    const TemporaryFolder folder;
    const test::SmallDisk disk(folder / "disk", 64);
    if (!disk.mounted()) DEFT_SKIP("mounting a tmpfs needs root");
    const auto file = disk / "journal.jsonl";
    Writer writer(file);
    Ended ended;
    ended.error = std::string(1000, 'x');
    std::int64_t written = 0;
    const std::string message = refusal(ErrorKind::io, [&] {
        for (;; ++written) writer.write(ended);
    });
    CHECK_THAT(message, ContainsSubstring("No space left"));
    CHECK(written > 10);
    const std::string text = read_text(file);
    CHECK(text.back() == '\n');
    CHECK(text.size() == static_cast<std::size_t>(written) * (to_json(ended).dump().size() + 1));
    // A shorter line still fits where the long one did not.
    writer.write(Lease{});
    CHECK(read_text(file) == text + to_json(Lease{}).dump() + "\n");
}
