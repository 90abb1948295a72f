// deft db upgrade on what older programs left.

#include "results_db/open.h"
#include "results_db/rows.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

TEST_CASE("a database of an older deft is refused with the command that migrates it, and then read") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const std::vector<std::string> words = {"upgrade", "--root", sweep.root.string()};
    CHECK(sweep.deft("db", words).exit_code == kExitNothing);
    CHECK(!std::filesystem::exists(sweep.root));  // asking made nothing
    make_folder(sweep.root);
    const std::filesystem::path file = sweep.root / "results.db";
    {
        const auto old = results_db::open_for_writing(file, results_db::migrations().first(1));
        old->execute(
            "UPDATE migration SET applied_ms = 0;"
            "INSERT INTO experiment (config_hash, variant_hash, seed, config_json, label, created_ms)"
            " VALUES ('cafe01', 'v-cafe01', 1, '{}', 'old', 1)");
    }
    const Ran refused = sweep.deft("show", {"cafe01", "--root", sweep.root.string()});
    CHECK(refused.exit_code == kExitDatabase);
    CHECK_THAT(refused.err, ContainsSubstring("deft db upgrade --root " + sweep.root.string()));
    CHECK(results_db::schema_version(file) == 1);

    const Ran upgraded = sweep.deft("db", words);
    CHECK(upgraded.exit_code == kExitOk);
    CHECK_THAT(upgraded.out, ContainsSubstring("schema version 1 became") && ContainsSubstring("results.db.backup-v1"));
    CHECK(results_db::schema_version(results_db::backup_of(file, 1)) == 1);
    CHECK_THAT(sweep.deft("show", {"cafe01", "--root", sweep.root.string()}).out, ContainsSubstring("cafe01"));
    const Ran again = sweep.deft("db", words);
    CHECK(again.exit_code == kExitOk);
    CHECK_THAT(again.out, ContainsSubstring("the newest"));

    write_file_atomically(file, "these are my notes\n");
    CHECK(sweep.deft("db", words).exit_code == kExitDatabase);
}

TEST_CASE("a command without its own command says which there are") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const Ran unknown = sweep.deft("db", {"rebuild"});
    CHECK(unknown.exit_code == kExitUsage);
    CHECK_THAT(unknown.err, ContainsSubstring("deft db has no command rebuild") &&
                                ContainsSubstring("there are upgrade, export, merge"));
    const Ran none = sweep.deft("baseline");
    CHECK(none.exit_code == kExitUsage);
    CHECK_THAT(none.err, ContainsSubstring("deft baseline needs a command") && ContainsSubstring("pin, list, retire"));
    CHECK_THAT(sweep.deft("baseline", {"lst"}).err, ContainsSubstring("did you mean list?"));
    // A mistake in an option is still reported.
    CHECK_THAT(sweep.deft("db", {"upgrade", "--rot", "x"}).err, ContainsSubstring("--rot"));
}
