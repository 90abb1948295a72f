#include "results_db/expert_load_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/error.h"
#include "results_db/record_row.h"

namespace deft::results_db {

namespace {

// step, layer, dropped, entropy, balance_loss, z_loss, nonfinite; the blob follows them.
int column_count() {
    const std::string columns = columns_of<journal::ExpertLoad>();
    return 1 + static_cast<int>(std::count(columns.begin(), columns.end(), ','));
}

std::vector<double> loads_in(std::span<const std::byte> blob, const std::string& file) {
    if (blob.size() % sizeof(float) != 0)
        throw Error(ErrorKind::database, fmt::format("{} holds the loads of experts that are cut off", file),
                    "move it away and rebuild it from the run folders, or restore a backup", "the file");
    std::vector<float> loads(blob.size() / sizeof(float));
    if (!loads.empty()) std::memcpy(loads.data(), blob.data(), blob.size());
    return {loads.begin(), loads.end()};
}

std::vector<journal::ExpertLoad> all_rows(Statement& query, const std::string& file) {
    std::vector<journal::ExpertLoad> rows;
    while (query.step()) {
        rows.push_back(record_of<journal::ExpertLoad>(query));
        rows.back().load = loads_in(query.blob(column_count()), file);
    }
    return rows;
}

}  // namespace

std::string expert_load_insert() {
    return fmt::format("INSERT OR REPLACE INTO {}", row_of<journal::ExpertLoad>("expert_load", "load"));
}

void bind_expert_load(Statement& insert, std::int64_t attempt_id, const journal::ExpertLoad& load) {
    bind_record(insert, attempt_id, load);
    const std::vector<float> loads(load.load.begin(), load.load.end());
    insert.bind_at(column_count() + 2, std::as_bytes(std::span(loads)));
}

std::vector<journal::ExpertLoad> read_expert_loads(Connection& connection, const std::string& config_hash) {
    Statement query(connection, ("SELECT " + columns_of<journal::ExpertLoad>() +
                                 ", load FROM v_expert_load WHERE experiment_id ="
                                 " (SELECT id FROM experiment WHERE config_hash = ?1) ORDER BY step, layer")
                                    .c_str());
    query.bind(config_hash);
    return all_rows(query, connection.file());
}

std::vector<journal::ExpertLoad> read_expert_loads_at(Connection& connection, std::int64_t attempt_id,
                                                      std::int64_t step) {
    Statement query(connection, ("SELECT " + columns_of<journal::ExpertLoad>() +
                                 ", load FROM expert_load WHERE attempt_id = ?1 AND step = ?2 ORDER BY layer")
                                    .c_str());
    query.bind(attempt_id, step);
    return all_rows(query, connection.file());
}

}  // namespace deft::results_db
