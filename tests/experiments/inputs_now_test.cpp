// Current inputs of a stored trial.

#include "experiments/inputs_now.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "experiments/evaluation/task.h"
#include "experiments/result_epoch.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
using namespace deft::test;

namespace {

constexpr const char* kTrial = R"toml(
[model]
layers = 2
width = 16
heads = 2
seqlen = 16
[data]
corpus = "text"
train_files = ["a.txt", "b.txt"]
[train]
batch_size = 4
budget_tokens = 4096
[curriculum.mine]
column = "mine.csv"
min = 5
duration = 0.5
)toml";

constexpr const char* kTask = R"toml(
name = "mine"
version = "1"
kind = "multiple_choice"
split = "test"
metrics = ["acc"]
[records]
file = "records.jsonl"
format = "jsonl"
[prompt]
text = "{q}"
choices = ["yes", "no"]
gold = "gold"
)toml";

// A trial as a database stores it, and its files.
struct Stored {
    TemporaryFolder folder;
    Json config;

    Stored() {
        write_text(folder / "a.txt", std::string(2000, 'a'));
        write_text(folder / "b.txt", std::string(2000, 'b'));
        write_text(folder / "mine.csv", "1\n2\n");
        TrialConfig trial = trial_of(kTrial, folder.path());
        resolve_data(trial);
        config = to_json(trial);
        config.erase("eval");
    }
    std::map<std::string, InputNow> now() const {
        SeenFiles seen;
        return inputs_now(config, seen);
    }
};

std::string stored_at(const Json& config, const char* pointer) {
    return config.at(Json::json_pointer(pointer)).get<std::string>();
}

}  // namespace

TEST_CASE("A stored trial's inputs today are those that it stored, until a file changes by a byte") {
    const Stored stored;
    auto now = stored.now();
    REQUIRE(now.size() == 2);
    CHECK(now["data.sha256"].sha256 == stored_at(stored.config, "/data/sha256"));
    CHECK(now["curriculum.mine.column_sha256"].sha256 == stored_at(stored.config, "/curriculum/mine/column_sha256"));
    write_text(stored.folder / "b.txt", std::string(1999, 'b') + "c");
    now = stored.now();
    CHECK(now["data.sha256"].sha256 != stored_at(stored.config, "/data/sha256"));
    CHECK(now["data.sha256"].unknown.empty());
    CHECK(now["curriculum.mine.column_sha256"].sha256 == stored_at(stored.config, "/curriculum/mine/column_sha256"));
    write_text(stored.folder / "mine.csv", "1\n3\n");
    CHECK(stored.now()["curriculum.mine.column_sha256"].sha256 !=
          stored_at(stored.config, "/curriculum/mine/column_sha256"));
}

TEST_CASE("Inputs that are gone are reported as unknown, and the rest by their hashes") {
    Stored stored;
    std::filesystem::remove(stored.folder / "a.txt");
    auto now = stored.now();
    CHECK(now["data.sha256"].sha256.empty());
    CHECK_THAT(now["data.sha256"].unknown, ContainsSubstring("a.txt"));
    CHECK_THAT(now["data.sha256"].unknown, !ContainsSubstring("\n"));
    CHECK(now["curriculum.mine.column_sha256"].unknown.empty());
    // The program that stored it has another epoch, which does not matter to where its data is.
    stored.config["result_epoch"] = kResultEpoch - 1;
    CHECK(stored.now()["curriculum.mine.column_sha256"].unknown.empty());
    for (const Json& config : {Json(), Json(3), Json::object(), Json{{"data", 1}}}) {
        stored.config = config;
        now = stored.now();
        REQUIRE(now.size() == 1);
        CHECK_THAT(now["data.sha256"].unknown, ContainsSubstring("cannot read the configuration"));
    }
}

TEST_CASE("A task's file and its records have separate hashes, and a comment in it has no effect") {
    const TemporaryFolder folder;
    write_text(folder / "mine.toml", kTask);
    write_text(folder / "records.jsonl", "{\"q\": \"1?\", \"gold\": 0}\n");
    const TaskNow before = task_now("mine.toml", 0, folder.path());
    const Task task = load_task("mine.toml", folder.path());
    CHECK(before.task_sha256 == task_sha256(task));
    CHECK(before.definition_sha256 == definition_sha256(task));
    CHECK(before.unknown.empty());
    write_text(folder / "mine.toml", std::string(kTask) + "# a comment\n");
    CHECK(task_now("mine.toml", 0, folder.path()).task_sha256 == before.task_sha256);
    write_text(folder / "records.jsonl", "{\"q\": \"2?\", \"gold\": 0}\n");
    const TaskNow records = task_now("mine.toml", 0, folder.path());
    CHECK(records.definition_sha256 == before.definition_sha256);
    CHECK(records.task_sha256 != before.task_sha256);
    std::string edited = kTask;
    edited.replace(edited.find("{q}"), 3, "{q}.");
    write_text(folder / "mine.toml", edited);
    const TaskNow file = task_now("mine.toml", 0, folder.path());
    CHECK(file.definition_sha256 != before.definition_sha256);
    CHECK(file.task_sha256 != records.task_sha256);
    std::filesystem::remove(folder / "records.jsonl");
    CHECK_THAT(task_now("mine.toml", 0, folder.path()).unknown, ContainsSubstring("records.jsonl"));
    std::filesystem::remove(folder / "mine.toml");
    CHECK_THAT(task_now("mine.toml", 0, folder.path()).unknown, ContainsSubstring("mine.toml"));
}

namespace {

// So that what was written into it counts as settled.
void make_old(const std::filesystem::path& file, SeenFiles& seen, int& read) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const int before = read;
    // Asked until a second reading is spared.
    while (std::chrono::steady_clock::now() < until) {
        const int at = read;
        seen.sha256("text", file, [&] {
            ++read;
            return "hash of " + read_file(file);
        });
        if (read == at) return;
        ::usleep(100'000);
    }
    FAIL("read each time, from reading " << before << " on");
}

}  // namespace

TEST_CASE("A file that looks as it did is read once, and again once it was written") {
    const TemporaryFolder folder;
    const auto file = folder / "corpus.txt", store = folder / "data" / "seen.json";
    write_text(file, "one");
    int read = 0;
    const auto hash = [&](SeenFiles& seen, const std::string& what = "text") {
        return seen.sha256(what, file, [&] {
            ++read;
            return "hash of " + read_file(file);
        });
    };
    {
        SeenFiles seen(store);
        CHECK(hash(seen) == "hash of one");
        // Just written: it is not trusted to stay so.
        CHECK(hash(seen) == "hash of one");
        CHECK(read == 2);
        seen.save();
        CHECK_FALSE(std::filesystem::exists(store));
        make_old(file, seen, read);
        seen.save();
    }
    read = 0;
    SeenFiles again(store);
    CHECK(hash(again) == "hash of one");
    CHECK(read == 0);
    CHECK(hash(again, "bytes") == "hash of one");  // another hash of the same file
    CHECK(read == 1);
    // With the same size and modification time.
    struct stat before {};
    REQUIRE(::stat(file.c_str(), &before) == 0);
    std::ofstream(file) << "two";
    const timespec times[2] = {before.st_atim, before.st_mtim};
    REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
    CHECK(hash(again) == "hash of two");  // as it was just written
    SeenFiles fresh;
    make_old(file, fresh, read);
    SeenFiles of_before(store);
    CHECK(hash(of_before) == "hash of two");
    for (const char* damaged : {"", "[]", "{\"a\": 1}", "{\"a\": {\"stamp\": 1}}"}) {
        write_text(store, damaged);
        SeenFiles other(store);
        CHECK(hash(other) == "hash of two");
    }
    // A root that cannot be written costs time alone.
    write_text(folder / "plain", "");
    SeenFiles nowhere(folder / "plain" / "seen.json");
    make_old(file, nowhere, read);
    CHECK_NOTHROW(nowhere.save());
}
