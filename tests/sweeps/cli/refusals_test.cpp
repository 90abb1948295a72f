// Sweeps and roots that make no sense: refused before anything is written.

#include <algorithm>

#include "base/installed_files.h"
#include "tests/sweeps/program.h"
#include "tests/temporary_folder.h"

using namespace deft;
using test::kPlain;
using test::Ran;
using test::TinySweep;

namespace {

// All that lies under a folder, with sizes.
std::vector<std::string> listing(const std::filesystem::path& folder) {
    std::vector<std::string> entries;
    if (!std::filesystem::exists(folder)) return entries;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        entries.push_back(entry.path().string() + (entry.is_regular_file() ? " " + read_file(entry.path()) : ""));
    std::sort(entries.begin(), entries.end());
    return entries;
}

std::string refusal_of(const TinySweep& sweep, int exit_code, const std::vector<std::string>& more = {}) {
    const auto before = listing(sweep.root);
    const Ran ran = sweep.run(more);
    CHECK(ran.exit_code == exit_code);
    CHECK(ran.out.empty());
    CHECK(listing(sweep.root) == before);
    CHECK_THAT(ran.err, ContainsSubstring("deft: error: "));
    CHECK_THAT(ran.err, ContainsSubstring("help: "));
    return ran.err;
}

std::string text_corpus(const std::string& train) {
    return "[defaults.data]\ncorpus = \"text\"\ntrain_files = [\"" + train + "\"]\nvalid_files = [\"valid.txt\"]\n";
}

// The tiny sweep on files instead of the embedded corpus.
void use_text_corpus(TinySweep& sweep, const std::string& train) {
    std::string text = read_file(sweep.file);
    const std::string embedded = "[defaults.data]\ncorpus = \"embedded\"\nembedded_bytes = 5000\n";
    text.replace(text.find(embedded), embedded.size(), text_corpus(train));
    const std::string tasks = "tasks = [\"embedded_questions\"]\n";
    text.replace(text.find(tasks), tasks.size(), "");
    sweep.folder.write("tiny.toml", text);
    sweep.folder.write("valid.txt", std::string(400, 'v'));
}

}  // namespace

TEST_CASE("A recipe that is not there is refused by name") {
    const TinySweep sweep(kPlain);
    const std::string said = refusal_of(sweep, kExitUsage, {"--only", "plan"});
    CHECK_THAT(said, ContainsSubstring("plan"));
    CHECK_THAT(said, ContainsSubstring("did you mean plain?"));
}

TEST_CASE("A misspelt key is refused at its place") {
    const TinySweep sweep(kPlain + "[case.train]\n  learning_rat = 1e-3\n");
    const std::string text = read_file(sweep.file);
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("_rat ")), '\n');
    const std::string said = refusal_of(sweep, kExitUsage);
    CHECK_THAT(said, ContainsSubstring(fmt::format("{}:{}:18: ", sweep.file.string(), line)));
    CHECK_THAT(said, ContainsSubstring("learning_rate"));
}

TEST_CASE("Two recipes that are the same are refused by name") {
    const TinySweep sweep(kPlain + "[[case]]\nname = \"plain-too\"\n");
    const std::string said = refusal_of(sweep, kExitUsage);
    CHECK_THAT(said, ContainsSubstring("plain/1 and plain-too/1"));
    CHECK_THAT(said, ContainsSubstring(sweep.file.string() + ":"));
}

TEST_CASE("A corpus that is missing or empty is refused by name") {
    TinySweep sweep(kPlain);
    use_text_corpus(sweep, "nowhere.txt");
    CHECK_THAT(refusal_of(sweep, kExitUsage), ContainsSubstring("nowhere.txt is missing"));
    sweep.folder.write("nowhere.txt", "");
    CHECK_THAT(refusal_of(sweep, kExitUsage), ContainsSubstring("nowhere.txt is empty"));
}

TEST_CASE("A budget of less than a step is refused at its place") {
    const TinySweep sweep(kPlain + "[case.train]\nbudget_tokens = 63\n");
    const std::string said = refusal_of(sweep, kExitUsage);
    CHECK_THAT(said, ContainsSubstring("budget of 63 tokens, less than one step"));
    CHECK_THAT(said, ContainsSubstring(sweep.file.string() + ":"));
}

TEST_CASE("A file of another program is never taken for the database") {
    const TinySweep sweep(kPlain);
    make_folder(sweep.root);
    const auto file = sweep.root / "results.db";
    test::write_text(file, "my notes\n");
    CHECK_THAT(refusal_of(sweep, kExitDatabase), ContainsSubstring(file.string() + " is not a deft results database"));
    std::filesystem::remove(file);
    {
        results_db::Connection other(file, results_db::Connection::Mode::write);
        other.execute("PRAGMA application_id = 77; CREATE TABLE notes (text)");
    }
    CHECK_THAT(refusal_of(sweep, kExitDatabase), ContainsSubstring("another program made it"));
}

TEST_CASE("Folders whose names are not UTF-8 are refused by name before anything is made") {
    TinySweep sweep(kPlain);
    const auto says = [](const std::string& said) {
        CHECK_THAT(said, ContainsSubstring("lat\\xEFin") && ContainsSubstring("is not UTF-8") &&
                             ContainsSubstring("through a link"));
    };
    sweep.root = sweep.folder.path / "lat\xEFin" / "root";
    says(refusal_of(sweep, kExitUsage));
    sweep.root = sweep.folder.path / "root";
    sweep.file = sweep.folder.write("lat\xEFin/tiny.toml", read_file(sweep.file));
    says(refusal_of(sweep, kExitUsage));
}

TEST_CASE("Options that make no sense are refused by name") {
    const TinySweep sweep(kPlain);
    for (const char* slots :
         {"cpu:0", "cpu:-1", "cpu:2x", "cpu:", "gpu:0", "gpu:1/0", "gpu:x", "gpus", "cpu:99999999999999999999", "2"})
        CHECK_THAT(refusal_of(sweep, kExitUsage, {"--slots", slots}),
                   ContainsSubstring(std::string("'") + slots + "'"));
    CHECK_THAT(refusal_of(sweep, kExitUsage, {"--threads", "0"}), ContainsSubstring("--threads"));
    CHECK_THAT(refusal_of(sweep, kExitUsage, {"--progress", "loud"}), ContainsSubstring("loud"));
    CHECK_THAT(refusal_of(sweep, kExitUsage, {"--set", "train.learning_rat=1"}), ContainsSubstring("learning_rate"));
    CHECK_THAT(refusal_of(sweep, kExitUsage, {"--seeds", "1,1"}), ContainsSubstring("twice"));
}

TEST_CASE("A program moved away from its files says what is missing; with them beside it, it works") {
    const test::Folder folder;
    const std::filesystem::path bin = folder.path / "bin", files = folder.path / "share" / "deft";
    make_folder(bin);
    std::filesystem::copy_file(DEFT_PROGRAM, bin / "deft");
    const auto list = [&] {
        test::Process process({(bin / "deft").string(), "data", "list"}, folder.path / "out", folder.path / "err");
        const int code = process.wait();
        return Ran{code, read_file(folder.path / "out"), read_file(folder.path / "err")};
    };
    const Ran alone = list();
    CHECK(alone.exit_code == kExitNothing);
    CHECK(alone.out.empty());
    CHECK_THAT(alone.err, ContainsSubstring("experiments/datasets.toml, which belongs to deft, is not here") &&
                              ContainsSubstring(files.string()) && ContainsSubstring("help: ") &&
                              ContainsSubstring("DEFT_FILES"));

    make_folder(files / "experiments");
    std::filesystem::copy(installed_file("experiments/datasets.toml"), files / "experiments" / "datasets.toml");
    const Ran beside = list();
    CHECK(beside.exit_code == kExitOk);
    CHECK_THAT(beside.out, ContainsSubstring("tinyshakespeare"));
}
