// Rows whose configuration was changed after they were stored.

#include "base/files.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/writer.h"
#include "tests/refusal.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

// As a text editor, a script or a damaged disk changes it.
void change(const std::filesystem::path& file, const std::string& sql) {
    Connection connection(file, Connection::Mode::write);
    connection.execute("DROP TRIGGER experiment_ro");
    connection.execute(sql.c_str());
    CHECK(connection.changes() == 1);
}

}  // namespace

TEST_CASE("A row whose configuration does not have its hash is not shown, exported, merged or gone on with") {
    struct Change {
        const char *name, *sql, *says;
    };
    const std::string budget = hashed_trial(1, 0.5).config_hash;
    for (const Change& change_of : {
             Change{"value", "config_json = replace(config_json, '\"budget_tokens\":1000', '\"budget_tokens\":2000')",
                    "its configuration hash is "},
             Change{"text", "config_json = '[]'", "is not a JSON object"},
             Change{"seed", "seed = 7", "its seed is 7, and its configuration has 1"},
             Change{"seed in the configuration", "config_json = replace(config_json, '\"seed\":1', '\"seed\":7')",
                    "its seed is 1, and its configuration has 7"},
             Change{"hash", "config_hash = substr(config_hash, 1, 60) || '0000'", "its configuration hash is "},
             Change{"variant", "variant_hash = upper(variant_hash)", "its row hash is "},
         }) {
        INFO(change_of.name);
        const MeasuredSweep measured;
        const std::string text = measured.text();
        change(measured.file(),
               fmt::format("UPDATE experiment SET {} WHERE config_hash = '{}'", change_of.sql, budget));
        const auto refused = [&](const std::function<void()>& action) {
            const std::string why = refusal(ErrorKind::database, action, change_of.says);
            CHECK_THAT(why, ContainsSubstring(budget.substr(0, 8)) && ContainsSubstring("run the sweep again"));
        };
        const Reader reader(measured.file());
        refused([&] { reader.sweep("quick"); });
        refused([&] { reader.trial(budget.substr(0, 8)); });
        refused([&] { reader.evidence("quick"); });
        refused([&] { reader.evidence_parts("quick", 1); });
        if (std::string(change_of.name) == "hash") continue;  // the row is of no trial that anybody plans
        Writer writer(measured.file());
        refused([&] { writer.add_trial(hashed_trial(1, 0.5)); });
        refused([&] { writer.add_trials(1, {{hashed_trial(1, 0.5), {0, "baseline", "{}"}}}); });
        refused([&] { writer.merge({{"text", text}}); });
    }
}

TEST_CASE("A row is not shown as changed where its configuration says the same in other words") {
    const MeasuredSweep measured;
    change(
        measured.file(),
        fmt::format("UPDATE experiment SET config_json = ' ' || replace(config_json, '/home/me/sweeps', '/elsewhere')"
                    " WHERE config_hash = '{}'",
                    hashed_trial(1, 0.5).config_hash));
    CHECK(Reader(measured.file()).sweep("quick").trials.size() == 4);
}
