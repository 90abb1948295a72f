// --from: several files in place of a root, for every command that reads results; and option values that are empty.

#include "results_db/evidence/evidence.h"
#include "tests/packed_text.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

}  // namespace

TEST_CASE("Packed evidence is merged, and refused where it is damaged or unpacks to more than evidence has") {
    const TinySweep sweep(test::kPlain, "[1]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::string out = (sweep.folder.path / "x.jsonl").string();
    REQUIRE(sweep.deft("db", {"export", "tiny", "--root", sweep.root.string(), "--out", out}).exit_code == kExitOk);
    const auto merge = [&](const std::string& name, const std::string& bytes) {
        const std::string file = sweep.folder.write(name, bytes).string();
        return sweep.deft("db", {"merge", file, "--root", (sweep.folder.path / "other").string()});
    };
    const std::string packed = test::gzip(read_file(out));
    CHECK_THAT(merge("cut.jsonl.gz", packed.substr(0, packed.size() / 2)).err,
               ContainsSubstring("truncated gzip data"));
    const std::string much(results_db::kMostReadBytes + 1, ' ');
    CHECK_THAT(merge("much.jsonl.gz", test::gzip(much)).err, ContainsSubstring("no evidence has more"));
    CHECK_THAT(merge("much.jsonl.zst", test::zstd(much)).err, ContainsSubstring("no evidence has more"));
    CHECK_FALSE(std::filesystem::exists(sweep.folder.path / "other" / "results.db"));
    CHECK(merge("x.jsonl.gz", packed).exit_code == kExitOk);
}

TEST_CASE("Every command that reads results takes several files after one --from") {
    const TinySweep sweep(test::kPlain + test::kBothTechniques, "[1]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::string root = sweep.root.string(), out = (sweep.folder.path / "x.jsonl").string();
    REQUIRE(sweep.deft("db", {"export", "tiny", "--parts", "2", "--root", root, "--out", out}).exit_code == kExitOk);
    const std::vector<std::string> files = {"--from", (sweep.folder.path / "x.1of2.jsonl").string(),
                                            (sweep.folder.path / "x.2of2.jsonl").string()};
    const std::string table = sweep.deft("report", {"tiny", "--root", root, "--format", "csv"}).out;
    const auto report = [&](const std::vector<std::string>& words) {
        const Ran ran = sweep.deft("report", joined(words, {"--format", "csv"}));
        CHECK(ran.exit_code == kExitOk);
        return ran.out;
    };
    CHECK(report(files) == table);
    CHECK(report(joined({"tiny"}, files)) == table);
    CHECK(report(joined(files, {"tiny"})) == table);
    const std::vector<std::string> packed = {
        "--from", sweep.folder.write("x.jsonl.gz", test::gzip(read_file(files[1]))).string(),
        sweep.folder.write("y.jsonl.zst", test::zstd(read_file(files[2]))).string()};
    CHECK(report(packed) == table);
    CHECK_THAT(sweep.deft("report", joined(files, {"tinny"})).err, ContainsSubstring("did you mean tiny?"));
    CHECK_THAT(sweep.deft("report", joined(files, {"x.3of2.jsonl"})).err,
               ContainsSubstring("x.3of2.jsonl does not exist"));

    // The commands that trace prints read the same files.
    const Ran traced =
        sweep.deft("trace", joined({"tiny", "plain", "validation loss", "--json"}, {files[0], files[1], files[2]}));
    REQUIRE(traced.exit_code == kExitOk);
    const std::string show = Json::parse(traced.out).dump();
    CHECK_THAT(show, ContainsSubstring(" --from " + files[1] + " " + files[2]) && !ContainsSubstring("deft logs"));
    // A baseline may be pinned in a root that does not exist yet.
    const std::string other = (sweep.folder.path / "other").string();
    CHECK(sweep.deft("baseline", joined({"pin", "main", "--root", other}, files)).exit_code == kExitOk);

    const Ran status = sweep.deft("status", joined({"tiny"}, files));
    CHECK(status.exit_code == kExitOk);
    CHECK_THAT(status.out, ContainsSubstring("tiny"));
    CHECK(sweep.deft("status", joined(files, {"tiny"})).out == status.out);
    const std::filesystem::path renamed = sweep.folder.write("renamed.toml", read_file(sweep.file));
    CHECK(sweep.deft("status", joined({renamed.string()}, files)).out == status.out);
    CHECK(sweep.deft("status", joined(files, {renamed.string()})).out == status.out);
    CHECK(sweep.deft("report", joined({sweep.file.string()}, files)).exit_code == kExitOk);
    CHECK_THAT(sweep.deft("status", {"--from", "absent.jsonl"}).err, ContainsSubstring("absent.jsonl"));
    CHECK(sweep.deft("status", joined(files, {"--stale"})).exit_code == kExitUsage);

    CHECK(sweep.deft("check", joined({"claims", "all"}, files)).exit_code == kExitNothing);
    CHECK_THAT(sweep.deft("check", joined(joined({"claims"}, files), {"tiny"})).err,
               ContainsSubstring("names no published table"));
    const auto is_same = [&](const char* command, const std::vector<std::string>& words) {
        const Ran here = sweep.deft(command, joined(words, {"--root", root}));
        const Ran there = sweep.deft(command, joined(words, files)), before = sweep.deft(command, joined(files, words));
        CHECK(there.exit_code == here.exit_code);
        CHECK(there.out == before.out);
        CHECK_FALSE(there.out.empty());
    };
    is_same("compare", {"plain", "both"});
    is_same("trace", {"tiny", "plain", "validation loss"});
    is_same("show", {"plain/1"});
}

TEST_CASE("An option with an empty value is refused, as one that a shell variable left empty") {
    const TinySweep sweep(test::kPlain);
    for (const char* option : {"--seeds", "--only", "--set", "--slots", "--scale", "--root"}) {
        INFO(option);
        const Ran ran = sweep.run({option, ""});
        CHECK(ran.exit_code == kExitUsage);
        CHECK_THAT(ran.err, ContainsSubstring(option) && ContainsSubstring("the value is empty"));
    }
    CHECK_FALSE(std::filesystem::exists(sweep.root));
    CHECK_THAT(sweep.deft("report", {"--from", ""}).err, ContainsSubstring("the value is empty"));
}
