// deft init: a sweep file for a user's own text, which trains as it is.

#include <filesystem>
#include <set>
#include <string>

#include "base/files.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;

namespace {

namespace fs = std::filesystem;

// `count` different lines of text.
std::string lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "Line " + std::to_string(i * 7919) + " of a small text with some words.\n";
    return text;
}

// A folder in which the program runs, with no data beside it.
struct WorkingFolder {
    test::Folder folder_;

    const fs::path& folder() const { return folder_.path; }
    // Their names, but for hidden ones.
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder())) names.insert(entry.path().filename().string());
        std::erase_if(names, [](const std::string& name) { return name.starts_with("."); });
        return names;
    }
    Ran deft(const std::string& command, const std::vector<std::string>& more) const {
        std::vector<std::string> argv = {DEFT_PROGRAM, command};
        argv.insert(argv.end(), more.begin(), more.end());
        test::Process process(argv, folder() / ".out", folder() / ".err", [&] {
            if (::chdir(folder().c_str()) != 0) ::_exit(126);
            ::unsetenv("DEFT_DATA_MIRROR");
            ::setenv("DEFT_DATA", (folder() / ".data").c_str(), 1);
        });
        const int code = process.wait();
        const Ran ran{code, read_file(folder() / ".out"), read_file(folder() / ".err")};
        UNSCOPED_INFO(command << " gave " << ran.exit_code << "\n" << ran.out << ran.err);
        return ran;
    }
};

}  // namespace

TEST_CASE("deft init writes a sweep for a text that trains unchanged", "[bare]") {
    const WorkingFolder here;
    write_file_atomically(here.folder() / "notes.txt", lines(150));
    const Ran wrote = here.deft("init", {"notes.txt"});
    REQUIRE(wrote.exit_code == kExitOk);
    CHECK_THAT(wrote.out, ContainsSubstring("1 file and 1 document") && ContainsSubstring("deft run notes.toml"));
    const Ran ran = here.deft("run", {"notes.toml", "--seeds", "1", "--only", "baseline at 50%"});
    CHECK(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("1 of 8 trials done"));
}

TEST_CASE("deft init validates on half of the documents where a tenth of them is too little text", "[bare]") {
    const WorkingFolder here;
    const auto split_of = [&](std::size_t last_lines) {
        write_file_atomically(here.folder() / "texts/a.txt", lines(100));
        write_file_atomically(here.folder() / "texts/b.txt", lines(60));
        write_file_atomically(here.folder() / "texts/c.txt", lines(60));
        write_file_atomically(here.folder() / "texts/d.txt", lines(last_lines));
        CHECK(here.deft("init", {"texts", "--out", "x.toml", "--force"}).exit_code == kExitOk);
        const std::string toml = read_file(here.folder() / "x.toml");
        const std::size_t at = toml.find("split = ");
        return toml.substr(at, toml.find('\n', at) - at);
    };
    fs::create_directories(here.folder() / "texts");
    CHECK(split_of(60) == "split = [90, 10, 0]");
    CHECK(split_of(1) == "split = [50, 50, 0]");
}

TEST_CASE("deft init names files so that the sweep finds them from its own folder", "[bare]") {
    const WorkingFolder here;
    fs::create_directories(here.folder() / "books/deep");
    fs::create_directories(here.folder() / "sweeps");
    write_file_atomically(here.folder() / "books/a b.txt", lines(100));
    write_file_atomically(here.folder() / "books/deep/c.txt", lines(40));
    CHECK(here.deft("init", {"books", "--out", "sweeps/x.toml", "--name", "mine"}).exit_code == kExitOk);
    const std::string elsewhere = read_file(here.folder() / "sweeps/x.toml");
    CHECK_THAT(elsewhere, ContainsSubstring("name = \"mine\"") && ContainsSubstring("2 files and 2 documents") &&
                              ContainsSubstring("train_files = [\"" + (here.folder() / "books").string() + "\"]"));
    CHECK(here.deft("init", {"books/*.txt"}).exit_code == kExitOk);
    CHECK_THAT(read_file(here.folder() / "mine.toml"), ContainsSubstring("train_files = [\"books/*.txt\"]"));
    CHECK(here.deft("plan", {"mine.toml"}).exit_code == kExitOk);
}

TEST_CASE("deft init validates on the file that is named so, and leaves out test files beside it", "[bare]") {
    const WorkingFolder here;
    fs::create_directories(here.folder() / "corpus");
    for (const char* name : {"train.txt", "valid.txt", "test.txt"})
        write_file_atomically(here.folder() / "corpus" / name, lines(100));
    const Ran wrote = here.deft("init", {"corpus"});
    CHECK(wrote.exit_code == kExitOk);
    const std::string toml = read_file(here.folder() / "corpus.toml");
    CHECK_THAT(toml, ContainsSubstring("train_files = [\"corpus/train.txt\"]") &&
                         ContainsSubstring("valid_files = [\"corpus/valid.txt\"]") &&
                         ContainsSubstring("# Left out: \"corpus/test.txt\"") && !ContainsSubstring("split ="));
    // A shell expands corpus/*.txt to a name per file.
    CHECK(here.deft("init", {"corpus/test.txt", "corpus/train.txt", "corpus/valid.txt", "--out", "by_file.toml",
                             "--name", "corpus"})
              .exit_code == kExitOk);
    const std::string by_file = read_file(here.folder() / "by_file.toml");
    CHECK(by_file.substr(by_file.find("name =")) == toml.substr(toml.find("name =")));
}

TEST_CASE("deft init refuses what is not text or too little, and leaves files as they were", "[bare]") {
    const WorkingFolder here;
    std::string binary;
    for (int i = 0; i < 9000; ++i) binary += static_cast<char>(i * 37 % 251 + 1);
    write_file_atomically(here.folder() / "picture.txt", binary);
    write_file_atomically(here.folder() / "tiny.txt", "a few words\n");
    write_file_atomically(here.folder() / "table.csv", lines(200));
    write_file_atomically(here.folder() / "notes.txt", lines(150));
    write_file_atomically(here.folder() / "notes.toml", "mine\n");
    fs::create_directories(here.folder() / "empty");
    const auto refusal = [&](const std::string& text) {
        const Ran ran = here.deft("init", {text});
        CHECK(ran.exit_code == kExitUsage);
        return ran.err;
    };
    CHECK_THAT(refusal("picture.txt"), ContainsSubstring("is not text") && ContainsSubstring("help:"));
    CHECK_THAT(refusal("tiny.txt"), ContainsSubstring("12 bytes of text, but a sweep needs 4000"));
    CHECK_THAT(refusal("table.csv"), ContainsSubstring("unknown extension .csv"));
    CHECK_THAT(refusal("absent.txt"), ContainsSubstring("absent.txt does not exist"));
    CHECK_THAT(refusal("empty"), ContainsSubstring("holds no .txt and no .jsonl file"));
    CHECK_THAT(refusal("notes.txt"), ContainsSubstring("notes.toml already exists") && ContainsSubstring("--force"));
    CHECK(read_file(here.folder() / "notes.toml") == "mine\n");
    CHECK(here.files() ==
          std::set<std::string>{"empty", "notes.toml", "notes.txt", "picture.txt", "table.csv", "tiny.txt"});
    CHECK(here.deft("init", {"notes.txt", "--force"}).exit_code == kExitOk);
    CHECK_THAT(read_file(here.folder() / "notes.toml"), ContainsSubstring("[[case]]"));
}

TEST_CASE("deft init leaves no draft beside the sweep, an interrupted one too", "[bare]") {
    const WorkingFolder here;
    write_file_atomically(here.folder() / "notes.txt", lines(400'000));
    write_file_atomically(here.folder() / "notes.toml.draft", "mine\n");
    for (const int milliseconds : {5, 10, 20, 30, 40}) {
        test::Process process({DEFT_PROGRAM, "init", (here.folder() / "notes.txt").string(), "--out",
                               (here.folder() / "notes.toml").string(), "--force"},
                              here.folder() / ".out", here.folder() / ".err");
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        process.signal(SIGINT);
        process.wait();
        std::set<std::string> left = here.files();
        left.erase("notes.toml");
        CHECK(left == std::set<std::string>{"notes.toml.draft", "notes.txt"});
    }
    CHECK(here.deft("init", {"notes.txt", "--force"}).exit_code == kExitOk);
    CHECK(read_file(here.folder() / "notes.toml.draft") == "mine\n");
}
