// Steps of the migration to version 5 that SQL cannot do.

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "results_db/connection.h"
#include "results_db/host_key.h"
#include "results_db/schema.h"

namespace deft::results_db {

namespace {

// {"baseline": "plain", ...} as version 4 wrote it; nothing where the file is absent or unreadable.
Json note_beside(const Connection& connection, const std::string& spec_sha256) {
    const std::filesystem::path file =
        std::filesystem::path(connection.file()).parent_path() / "sweeps" / (spec_sha256 + ".json");
    std::error_code ignored;
    if (spec_sha256.find('/') != std::string::npos || !std::filesystem::is_regular_file(file, ignored)) return {};
    return try_parse_json(read_file(file));
}

void take_in_notes(Connection& connection) {
    std::vector<std::pair<std::int64_t, std::string>> sweeps;
    for (Statement query(connection, "SELECT id, spec_sha256 FROM sweep"); query.step();)
        sweeps.emplace_back(query.integer(0), query.text(1));
    for (const auto& [id, sha256] : sweeps) {
        const Json note = note_beside(connection, sha256);
        if (!note.is_object()) continue;
        const auto text = [&note](const char* key, const std::string& otherwise = "") {
            const auto found = note.find(key);
            return found != note.end() && found->is_string() ? found->get<std::string>() : otherwise;
        };
        // Notes of before there were commands name the file alone.
        const std::string file = text("file");
        Statement(connection,
                  "UPDATE sweep SET title = ?2, scale = ?3, baseline = ?4, command = ?5, points = ?6, paper = ?7"
                  " WHERE id = ?1")
            .bind(id, text("title"), text("scale", "unknown"), text("baseline"),
                  text("command", file.empty() ? "" : "deft run " + file), text("points", file), text("paper"))
            .run();
    }
}

struct OldHost {
    std::int64_t id = 0;
    Host host;
};

// Oldest first.
std::vector<OldHost> all_hosts(Connection& connection) {
    std::vector<OldHost> hosts;
    for (Statement query(connection,
                         "SELECT id, hostname, arch, cpu_model, cores, threads, mem_bytes, kernel, os, extra_json"
                         " FROM host ORDER BY id");
         query.step();)
        hosts.push_back({query.integer(0),
                         {query.text(1), query.text(2), query.text(3), query.integer(4), query.integer(5),
                          query.integer(6), query.text(7), query.text(8), query.text(9)}});
    return hosts;
}

// Hosts that differed by a kernel or a megabyte become one, and each attempt keeps what it ran on.
void merge_hosts(Connection& connection) {
    std::map<std::string, std::int64_t> kept;
    for (const OldHost& old : all_hosts(connection)) {
        for (const char* sql :
             {"UPDATE attempt SET machine_json = ?2 WHERE host_id = ?1",
              "UPDATE bench_session SET env_json = json_set(env_json, '$.machine', json(?2)) WHERE host_id = ?1"})
            Statement(connection, sql).bind(old.id, machine_json(old.host)).run();
        const std::string fingerprint = host_fingerprint(old.host);
        const auto [same, is_new] = kept.emplace(fingerprint, old.id);
        if (is_new) {
            Statement(connection, "UPDATE host SET fingerprint = ?2 WHERE id = ?1").bind(old.id, fingerprint).run();
            continue;
        }
        for (const char* sql : {"UPDATE attempt SET host_id = ?2 WHERE host_id = ?1",
                                "UPDATE bench_session SET host_id = ?2 WHERE host_id = ?1"})
            Statement(connection, sql).bind(old.id, same->second).run();
        Statement(connection, "DELETE FROM host WHERE id = ?1").bind(old.id).run();
    }
}

}  // namespace

void finish_v5(Connection& connection) {
    take_in_notes(connection);
    merge_hosts(connection);
}

}  // namespace deft::results_db
