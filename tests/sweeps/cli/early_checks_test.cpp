// Mistakes that are found before anything is trained or built.

#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

constexpr const char* kTask = R"toml(
name = "mine"
version = "1"
split = "test"
kind = "multiple_choice"
metrics = ["acc"]
[records]
file = "mine.jsonl"
format = "jsonl"
[prompt]
text = "{question}"
choices = [" yes", " no"]
gold = "answer"
)toml";

// The sweep asks that task after the embedded one.
void ask_task(const TinySweep& sweep, const std::string& record) {
    sweep.folder.write("mine.toml", kTask);
    sweep.folder.write("mine.jsonl", record + "\n");
    std::string text = read_file(sweep.file);
    const std::string asked = "\"embedded_questions\"";
    text.replace(text.find(asked), asked.size(), asked + ", \"mine.toml\"");
    sweep.folder.write("tiny.toml", text);
}

}  // namespace

TEST_CASE("A task whose first record has a mistake is refused by plan and run, before anything is trained") {
    const std::string no_field = R"({"query": "Is it?", "answer": 0})",
                      no_choice = R"({"question": "Is it?", "answer": 2})";
    const std::string search = "[search]\nlearning_rate = [1e-3, 3e-3]\nseeds = [7]\n";
    for (const auto& [record, says] : {std::pair{no_field, "question"}, {no_choice, "names choice 2 of 2"}})
        for (const std::string& more : {std::string(), search}) {
            INFO(record << more);
            const TinySweep sweep(more + test::kPlain);
            ask_task(sweep, record);
            for (const char* command : {"plan", "run"}) {
                const Ran ran = sweep.deft(command);
                CHECK(ran.exit_code == kExitUsage);
                CHECK_THAT(ran.err, ContainsSubstring(says) && ContainsSubstring("mine.jsonl:1"));
            }
            if (std::filesystem::exists(sweep.root / "results.db"))
                CHECK(sweep.value("SELECT count(*) FROM attempt") == "0");
        }
    const TinySweep right(test::kPlain);
    ask_task(right, R"({"question": "Is it?", "answer": 1})");
    CHECK(right.run().exit_code == kExitOk);
}

TEST_CASE("check bench resolves both revisions before it builds one") {
    const TinySweep sweep(test::kPlain);
    const std::string checkout = (sweep.folder.path / "checkout").string(),
                      cache = (sweep.folder.path / "cache").string();
    const std::string git = "git -C '" + checkout + "' -c user.name=a -c user.email=a@b ";
    REQUIRE(std::system(("mkdir '" + checkout + "' && " + git + "init -q && " + git +
                         "commit -q --allow-empty -m first && " + git + "branch -M main")
                            .c_str()) == 0);
    const Ran ran = sweep.deft("check", {"bench", "main", "HEADD", "--checkout", checkout, "--dry-run"},
                               [&] { ::setenv("XDG_CACHE_HOME", cache.c_str(), 1); });
    CHECK(ran.exit_code == kExitUsage);
    CHECK_THAT(ran.err, ContainsSubstring("HEADD"));
    CHECK_FALSE(std::filesystem::exists(cache));
}

TEST_CASE("A file for results whose folder is not there is refused before anything is measured") {
    const TinySweep sweep(test::kPlain);
    const std::string file = (sweep.folder.path / "no folder/x.json").string();
    const Ran ran = sweep.deft("profile", {"--json-file", file});
    CHECK(ran.exit_code == kExitUsage);
    CHECK_THAT(ran.err, ContainsSubstring("does not exist"));
}
