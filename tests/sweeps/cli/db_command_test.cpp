// deft db upgrade on what older programs left.

#include "results_db/open.h"
#include "results_db/rows.h"
#include "tests/results_db/preliminary_database.h"
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
    test::write_preliminary_database(file);
    const results_db::SchemaVersion preliminary{14, true};
    const Ran refused = sweep.deft("show", {"moe", "--root", sweep.root.string()});
    CHECK(refused.exit_code == kExitDatabase);
    CHECK_THAT(refused.err, ContainsSubstring("deft db upgrade --root " + sweep.root.string()));
    CHECK(results_db::schema_version(file) == preliminary);

    const Ran upgraded = sweep.deft("db", words);
    CHECK(upgraded.exit_code == kExitOk);
    CHECK_THAT(upgraded.out, ContainsSubstring("preliminary schema version 14 became version 2.") &&
                                 ContainsSubstring("results.db.backup-preliminary-v14"));
    CHECK(results_db::schema_version(results_db::backup_of(file, preliminary)) == preliminary);
    const std::string second = sweep.value("SELECT name || '@' || substr(spec_sha256, 1, 12) FROM sweep WHERE id = 1");
    const Ran report = sweep.deft("report", {second, "--root", sweep.root.string()});
    CHECK(report.exit_code == kExitOk);
    CHECK_THAT(report.out, ContainsSubstring("moe"));
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
                                ContainsSubstring("there are upgrade, export, merge, verify"));
    const Ran none = sweep.deft("baseline");
    CHECK(none.exit_code == kExitUsage);
    CHECK_THAT(none.err, ContainsSubstring("deft baseline needs a command") && ContainsSubstring("pin, list, retire"));
    CHECK_THAT(sweep.deft("baseline", {"lst"}).err, ContainsSubstring("did you mean list?"));
    // A mistake in an option is still reported.
    CHECK_THAT(sweep.deft("db", {"upgrade", "--rot", "x"}).err, ContainsSubstring("--rot"));
}
