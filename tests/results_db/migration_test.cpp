// A filled database of version 4 (tests/results_db/version_4), brought to the newest: nothing that was measured is
// lost.

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/writer.h"
#include "tests/catch.h"
#include "tests/results_db/fixture.h"

using namespace deft;
using namespace deft::results_db;
using namespace deft::test;

namespace {

const std::filesystem::path kFixture = DEFT_SOURCE_DIR "/tests/results_db/version_4";

// A root with that database, and with the notes beside it that version 4 kept.
std::filesystem::path a_root_of_version_4(const TemporaryFolder& folder) {
    std::filesystem::copy(kFixture / "sweeps", folder / "sweeps");
    const std::filesystem::path file = folder / "results.db";
    const auto connection = open_for_writing(file, migrations().first(4));
    connection->execute("PRAGMA foreign_keys = OFF");
    connection->execute("UPDATE migration SET applied_ms = 0");  // before its rows
    connection->execute(read_file(kFixture / "rows.sql").c_str());
    REQUIRE(connection->integer("SELECT count(*) FROM pragma_foreign_key_check") == 0);
    return file;
}

std::vector<std::string> rows_of(Connection& connection, const std::string& sql, int columns) {
    Statement query(connection, sql.c_str());
    std::vector<std::string> rows;
    while (query.step()) {
        std::string row;
        for (int i = 0; i < columns; ++i) row += query.text(i) + "|";
        rows.push_back(row);
    }
    return rows;
}

const std::string kCurves =
    "SELECT experiment_id, attempt_id, step, tokens, loss, wall_ms, nonfinite FROM v_curve ORDER BY 1, 3";
const std::string kScores = "SELECT attempt_id, step, task, value, kind, n FROM evaluation ORDER BY id";

}  // namespace

TEST_CASE("a filled database of version 4 keeps its curves, scores, baselines and benchmarks") {
    const TemporaryFolder folder;
    const std::filesystem::path file = a_root_of_version_4(folder);
    std::vector<std::string> curves, scores;
    {
        Connection old(file, Connection::Mode::read);
        curves = rows_of(old, kCurves, 7);
        scores = rows_of(old, kScores, 6);
    }
    CHECK(curves.size() == 5);
    CHECK(scores.size() == 3);
    { const Writer writer(file); }
    CHECK(std::filesystem::exists(backup_of(file, 4)));
    Connection connection(file, Connection::Mode::read);
    CHECK(connection.integer("PRAGMA user_version") == migrations().back().version);
    CHECK(connection.text("PRAGMA integrity_check") == "ok");
    CHECK(connection.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0);
    CHECK(rows_of(connection, kCurves, 7) == curves);
    CHECK(rows_of(connection, kScores, 6) == scores);
    const Reader reader(file);
    CHECK(reader.baselines().size() == 1);
    CHECK(reader.benches().size() == 2);
    CHECK(reader.trial("plain").code.diff_sha256 != "");
    Writer writer(file);
    CHECK(writer.live_attempts().size() == 1);
}

TEST_CASE("filled databases of versions 1 to 3 become what that of version 4 becomes") {
    // The versions before had no other tables than those of version 4, some of them not yet, with the same columns.
    const std::string rows = read_file(kFixture / "rows.sql");
    std::vector<std::string> newest;
    for (const int version : {4, 1, 2, 3}) {
        INFO("version " << version);
        const TemporaryFolder folder;
        std::filesystem::copy(kFixture / "sweeps", folder / "sweeps");
        const std::filesystem::path file = folder / "results.db";
        {
            const auto connection = open_for_writing(file, migrations().first(static_cast<std::size_t>(version)));
            connection->execute("PRAGMA foreign_keys = OFF");
            int left_out = 0;
            const std::string insert = "INSERT INTO ";
            for (std::size_t at = rows.find(insert); at != std::string::npos;) {
                const std::size_t next = rows.find("\n" + insert, at), name = at + insert.size();
                const std::string table = rows.substr(name, rows.find(' ', name) - name);
                Statement known(*connection, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1");
                if (known.bind(table).step())
                    connection->execute(rows.substr(at, next - at).c_str());
                else
                    ++left_out;
                at = next == std::string::npos ? next : next + 1;
            }
            CHECK(left_out == (version == 4 ? 0 : version == 3 ? 1 : 6));
        }
        { const Writer writer(file); }
        CHECK(std::filesystem::exists(backup_of(file, version)));
        Connection connection(file, Connection::Mode::read);
        CHECK(connection.text("PRAGMA integrity_check") == "ok");
        CHECK(connection.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0);
        std::vector<std::string> found = rows_of(connection, kCurves, 7);
        for (const char* sql :
             {kScores.c_str(), "SELECT id, number, state, device_seconds, usd, machine_json FROM attempt ORDER BY id",
              "SELECT sweep_id, experiment_id, case_key, axes_json, ordinal, scores_json"
              " FROM sweep_member ORDER BY 1, 2"})
            for (const std::string& row : rows_of(connection, sql, 6)) found.push_back(row);
        if (newest.empty()) newest = found;
        CHECK(found == newest);
        CHECK(found.size() > 15);
    }
}

TEST_CASE("attempts of version 4 cost what each ran itself, at its own shape") {
    const TemporaryFolder folder;
    const std::filesystem::path file = a_root_of_version_4(folder);
    { const Writer writer(file); }
    const Reader reader(file);
    // 2.12 s on one thread, then 1.06 s on two; version 4 said 6.36.
    const StoredSweep sweep = reader.sweep(full_name(reader.sweeps()[1]));
    const StoredTrial &plain = sweep.trials.at(0), &both = sweep.trials.at(1);
    CHECK(plain.device_seconds == Approx(2.12 + 2 * 1.06));
    REQUIRE(plain.usd);
    CHECK(*plain.usd == Approx((2.12 + 2 * 1.06) * 3.6 / 3600));
    REQUIRE(plain.attempt_rows.size() == 2);
    CHECK(plain.attempt_rows[0].own_seconds == Approx(2.12));
    CHECK(plain.attempt_rows[0].counts);
    CHECK(plain.attempt_rows[1].shape.devices == 2);
    CHECK(plain.attempt_rows[1].price->source == "a test");
    // Killed, so that its last line is all that is known; nothing of it is in the result, which half a GPU trained.
    REQUIRE(both.attempt_rows.size() == 2);
    CHECK(both.attempt_rows[0].own_seconds == Approx(3.0));
    CHECK_FALSE(both.attempt_rows[0].counts);
    CHECK(both.attempt_rows[1].shape.device == "cuda");
    CHECK(both.device_seconds == Approx(0.25));
    CHECK_FALSE(both.usd);
}

TEST_CASE("hosts of version 4 that differ only by kernel become one, and each attempt keeps what it ran on") {
    const TemporaryFolder folder;
    const std::filesystem::path file = a_root_of_version_4(folder);
    { const Writer writer(file); }
    Connection connection(file, Connection::Mode::read);
    CHECK(connection.integer("SELECT count(*) FROM host") == 2);
    CHECK(connection.integer("SELECT count(DISTINCT host_id) FROM bench_session") == 1);
    CHECK(rows_of(connection, "SELECT machine_json ->> 'kernel' FROM attempt WHERE experiment_id = 1 ORDER BY id", 1) ==
          std::vector<std::string>{"Linux 6.1.0-18|", "Linux 6.1.0-21|"});
    CHECK(connection.text("SELECT env_json ->> '$.machine.kernel' FROM bench_session WHERE uid = 'bench-1'") ==
          "Linux 6.1.0-21");
    // A machine that is seen again is the one it was.
    const std::int64_t hosts = connection.integer("SELECT count(*) FROM host");
    Host host{"another-name", "x86_64",    "Example CPU 9000",         2, 2, 7990000000,
              "Linux 6.12",   "Debian 13", R"({"isa":["avx2","fma"]})"};
    Writer writer(file);
    writer.add_host(host);
    CHECK(connection.integer("SELECT count(*) FROM host") == hosts);
    CHECK(Reader(file).trial("plain").host.kernel == "Linux 6.1.0-18");
}

TEST_CASE("the notes beside a database of version 4 move into it, and may be lost then") {
    const TemporaryFolder folder;
    const std::filesystem::path file = a_root_of_version_4(folder);
    { const Writer writer(file); }
    std::filesystem::remove_all(folder / "sweeps");
    const Reader reader(file);
    REQUIRE(reader.sweeps().size() == 2);
    const SweepHead changed = reader.sweeps()[0], plain = reader.sweeps()[1];
    CHECK(overrides_text(changed) == "train.learning_rate=0.002");
    CHECK(changed.baseline == "plain");
    CHECK(changed.command == "deft run tiny.toml");
    CHECK(changed.points == "tiny.toml");
    CHECK(changed.scale.empty());
    CHECK(plain.title == "A tiny sweep");
    CHECK(plain.scale == "smoke");
    CHECK(plain.command == "deft run tiny.toml --slots cpu:1");
    CHECK(plain.paper == "data_efficiency_gpt_combined");
    CHECK(plain.claims_json.empty());
}

TEST_CASE("a database of version 4 without its notes, or with damaged ones, says that it does not know") {
    const TemporaryFolder folder;
    const std::filesystem::path file = a_root_of_version_4(folder);
    for (const auto& note : std::filesystem::directory_iterator(folder / "sweeps"))
        write_text(note.path(), "{\"scale\":");
    { const Writer writer(file); }
    for (const SweepHead& head : Reader(file).sweeps()) {
        CHECK(head.scale == "unknown");
        CHECK(head.baseline.empty());
    }
}

TEST_CASE("what version 4 kept of draws in many rows is one row a step") {
    const TemporaryFolder folder;
    const std::filesystem::path file = a_root_of_version_4(folder);
    { const Writer writer(file); }
    const Reader reader(file);
    const auto curves = reader.curves(reader.sweeps()[1]);
    std::size_t steps = 0;
    for (const auto& [hash, curve] : curves) {
        CHECK(curve.epochs == std::vector<double>{2.5, 2, 1.5, 1.25, 1, 0.75, 0.5, 0.25, 0.125, 0});
        for (const SamplingPoint& point : curve.sampling) {
            CHECK(point.pool == 100 + point.step);
            CHECK(point.drawn == point.step * 8);
            CHECK(point.repeated == point.step);
            CHECK(point.cut_tokens == point.step * 3);
            CHECK(point.padded_tokens == 0);
            ++steps;
        }
    }
    CHECK(steps == 4);
    Connection connection(file, Connection::Mode::read);
    CHECK(connection.integer("SELECT count(*) FROM metric WHERE better = 'none'") == 0);
}

TEST_CASE("places of a database of version 7 are trained, and stay") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db";
    {
        const auto old = open_for_writing(file, migrations().first(7));
        old->execute(
            "INSERT INTO sweep (uid, name, spec_sha256, spec_toml, created_ms, use_order)"
            " VALUES ('u', 's', 'h', '', 1, 1)");
        old->execute(("INSERT INTO experiment (config_hash, variant_hash, seed, config_json, label, created_ms)"
                      " VALUES " +
                      values_of(a_trial("c1", 3)))
                         .c_str());
        old->execute(
            "INSERT INTO sweep_member (sweep_id, experiment_id, case_key, ordinal, axes_json, stage, seeds)"
            " VALUES (1, 1, 'plain', 0, '{}', 'pretrain', '3')");
    }
    { const Writer writer(file); }
    const StoredSweep sweep = Reader(file).sweep("s");
    REQUIRE(sweep.trials.size() == 1);
    CHECK_FALSE(sweep.trials[0].imported.has_value());
    CHECK(sweep.trials[0].stage == "pretrain");
    CHECK(sweep.trials[0].seeds == "3");
    CHECK(std::filesystem::exists(backup_of(file, 7)));
    // Text that no program of ours wrote there is reported, and not taken for a model.
    { Connection(file, Connection::Mode::write).execute("UPDATE sweep_member SET imported_json = '{\"from\":'"); }
    CHECK_THROWS_WITH(Reader(file).sweep("s"), ContainsSubstring("imported model that cannot be read"));
    { Connection(file, Connection::Mode::write).execute("UPDATE sweep_member SET imported_json = '{\"from\":1}'"); }
    CHECK_THROWS_WITH(Reader(file).sweep("s"), ContainsSubstring("imported model that cannot be read"));
}

TEST_CASE("attempts of a database of version 8 have no start and no active parameters, and resume") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "results.db", journal = folder / "journal.jsonl";
    {
        const auto old = open_for_writing(file, migrations().first(8));
        old->execute(
            "INSERT INTO code (fingerprint, git_sha, git_branch, dirty, diff_sha256, binary_sha256, compiler,"
            " cxx_flags, build_type) VALUES ('f', 'c', 'main', 0, '', 'b', 'g', '', 'Release')");
        old->execute(
            "INSERT INTO host (fingerprint, hostname, arch, cpu_model, cores, threads, mem_bytes, kernel, os)"
            " VALUES ('h', 'n', 'x', 'cpu', 1, 1, 1, '', '')");
        old->execute(("INSERT INTO experiment (config_hash, variant_hash, seed, config_json, label, created_ms)"
                      " VALUES " +
                      values_of(a_trial("c1", 3)))
                         .c_str());
        old->execute(
            "INSERT INTO attempt (uid, experiment_id, number, code_id, host_id, state, worker, slots_json,"
            " argv_json, workdir, created_ms, resume_step, parameters)"
            " VALUES ('a', 1, 1, 1, 1, 'running', 'd/0', '{}', '[]', 'runs/a', 1, 0, 4096)");
        old->execute(
            "INSERT INTO train_point (attempt_id, step, tokens, unique_tokens, layer_tokens, flops, wall_ms,"
            " loss, lr, grad_norm, tok_per_s, seqlen, kept_tokens, nonfinite)"
            " VALUES (1, 10, 1, 1, 1, 1, 1, 2.5, 1, 1, 1, 1, 1, 0)");
    }
    Writer writer(file);
    CHECK(std::filesystem::exists(backup_of(file, 8)));
    const StoredTrial old = Reader(file).trial(hash_of("c1", 3));
    CHECK(old.parameters == 4096);
    CHECK(old.active_parameters == 4096);
    CHECK(old.last_point->loss == 2.5);
    REQUIRE(old.attempt_rows.size() == 1);
    CHECK(old.attempt_rows[0].start_note.empty());
    CHECK(Reader(file).expert_loads(hash_of("c1", 3)).empty());
    // Its trial, of a newer program now, writes what the old one could not.
    write_text(journal, line(a_point(20)) + line(journal::ExpertLoad{20, 1, {0.75, 0.25}, 0, 0.5, 1, 0}));
    REQUIRE(writer.ingest(1, journal).lines == 2);
    const auto loads = Reader(file).expert_loads(hash_of("c1", 3));
    REQUIRE(loads.size() == 1);
    CHECK(loads[0].load == std::vector<double>{0.75, 0.25});
}
