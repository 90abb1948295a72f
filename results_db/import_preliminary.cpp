#include "results_db/import_preliminary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/sha256.h"
#include "results_db/open.h"

namespace deft::results_db {

namespace {

// A file may be anybody's: names from it are quoted.
std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
    return text + "\"";
}

std::vector<std::string> texts(Connection& connection, const std::string& sql) {
    std::vector<std::string> found;
    for (Statement query(connection, sql.c_str()); query.step();) found.push_back(query.text(0));
    return found;
}

// Columns that hold values of their own, by table.
std::map<std::string, std::vector<std::string>> stored_columns(Connection& connection) {
    std::map<std::string, std::vector<std::string>> tables;
    Statement query(connection,
                    "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c"
                    " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.hidden = 0 ORDER BY t.name, c.cid");
    while (query.step()) tables[query.text(0)].push_back(query.text(1));
    return tables;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

[[noreturn]] void fail_incomplete(const Connection& connection, const std::string& what) {
    throw Error(ErrorKind::database,
                fmt::format("{} has {}, which preliminary schema version {} has: it is damaged or half migrated",
                            connection.file(), what, kPreliminaryVersion),
                "restore a backup of the file, or merge the evidence that was exported from it", "the file");
}

// Errors: database. Only the hash of a sweep's file is newer than that version.
void require_tables(const Connection& connection, const std::map<std::string, std::vector<std::string>>& known,
                    const std::map<std::string, std::vector<std::string>>& found) {
    for (const auto& [table, columns] : known) {
        const auto there = found.find(table);
        if (there == found.end()) fail_incomplete(connection, fmt::format("no table {}", table));
        for (const std::string& column : columns)
            if (!contains(there->second, column) && !(table == "sweep" && column == "file_sha256"))
                fail_incomplete(connection, fmt::format("no column {} in its table {}", column, table));
    }
}

void hash_files(Connection& connection) {
    std::map<std::int64_t, std::string> hashes;
    for (Statement query(connection, "SELECT id, spec_toml FROM sweep"); query.step();)
        hashes[query.integer(0)] = sha256(query.text(1));
    Statement update(connection, "UPDATE sweep SET file_sha256 = ?2 WHERE id = ?1");
    for (const auto& [id, hash] : hashes) update.bind(id, hash).run();
}

}  // namespace

void import_preliminary(Connection& connection, const Migration& first) {
    Connection schema("the schema", Connection::Mode::memory);
    schema.execute(first.sql);
    const auto known = stored_columns(schema), found = stored_columns(connection);
    require_tables(connection, known, found);
    for (const char* type : {"view", "trigger", "index"})
        for (const std::string& name : texts(
                 connection, fmt::format("SELECT name FROM sqlite_schema WHERE type = '{}' AND sql IS NOT NULL", type)))
            connection.execute(fmt::format("DROP {} {}", type, quoted(name)).c_str());
    const auto former = [](const std::string& table) { return "preliminary_" + table; };
    for (const auto& [table, columns] : known)
        connection.execute(fmt::format("ALTER TABLE {} RENAME TO {}", table, former(table)).c_str());
    connection.execute(first.sql);
    for (const auto& [table, columns] : known) {
        std::vector<std::string> copied;
        for (const std::string& column : columns)
            if (contains(found.at(table), column)) copied.push_back(column);
        // This program's list of steps replaces the older one.
        if (table != "migration")
            connection.execute(
                fmt::format("INSERT INTO {0} ({1}) SELECT {1} FROM {2}", table, fmt::join(copied, ", "), former(table))
                    .c_str());
        connection.execute(fmt::format("DROP TABLE {}", former(table)).c_str());
    }
    connection.execute("DROP TABLE IF EXISTS former_hash");
    hash_files(connection);
}

}  // namespace deft::results_db
