#pragma once
// A filled database of preliminary schema version 14, as the program of that version wrote it.

#include <filesystem>

#include "base/files.h"
#include "results_db/connection.h"
#include "tests/catch.h"

namespace deft::test {

inline void write_preliminary_database(const std::filesystem::path& file, int version = 14) {
    results_db::Connection connection(file, results_db::Connection::Mode::write);
    connection.execute("PRAGMA foreign_keys = OFF");
    connection.execute(read_file(DEFT_SOURCE_DIR "/tests/results_db/version_14.sql").c_str());
    connection.execute("PRAGMA application_id = 0x64656674");
    connection.execute(("PRAGMA user_version = " + std::to_string(version)).c_str());
    REQUIRE(connection.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0);
}

}  // namespace deft::test
