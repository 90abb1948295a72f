#include "results_db/evidence/curve_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/journal.h"
#include "base/json.h"
#include "base/score_key.h"
#include "results_db/evidence/journal_record.h"
#include "results_db/evidence/possible_values.h"
#include "results_db/evidence/text_lines.h"
#include "results_db/evidence/thinned.h"
#include "results_db/expert_load_rows.h"
#include "results_db/journal_rows.h"
#include "results_db/nonfinite.h"
#include "results_db/record_row.h"

namespace deft::results_db {

namespace {

using Steps = std::vector<std::int64_t>;
using Rows = std::vector<Json>;

constexpr std::size_t kStepsAnExpertStep = 4;
constexpr std::size_t kFewest = 2;
constexpr std::size_t kMostRows = 1'000'000;  // of a part: a text of a few bytes a row becomes a database of many
constexpr std::size_t kLongestText = 200;

Steps steps_in(Connection& connection, std::int64_t attempt_id, const char* sql) {
    Statement query(connection, sql);
    query.bind(attempt_id);
    Steps steps;
    while (query.step()) steps.push_back(query.integer(0));
    return steps;
}

struct KeptSteps {
    bool are_some = false;                  // that the result of the trial was built on
    std::optional<std::int64_t> last = {};  // nothing: to the last
};

KeptSteps kept_steps(Connection& connection, std::int64_t attempt_id) {
    Statement query(connection,
                    "SELECT last_step, last_step IS NULL OR last_step > after_step FROM v_kept WHERE attempt_id = ?1");
    if (!query.bind(attempt_id).step()) return {};
    return {query.integer(1) != 0, query.maybe_integer(0)};
}

// A record's fields without those stored elsewhere.
template <class Record>
Json journal_fields(const Record& record) {
    Json fields = journal::to_json(record);
    for (const char* key : {"type", "epochs"}) fields.erase(key);
    return fields;
}

// {"step": [10, 20], "loss": [3.5, 3.25], "seqlen": 64}: a value that all rows share is stored once.
Json columns_of_rows(const Rows& rows) {
    Json columns = Json::object();
    for (const auto& [key, first] : rows.front().items()) {
        const auto is_first = [&name = key, &value = first](const Json& row) { return row.at(name) == value; };
        if (key != "step" && !first.is_array() && std::all_of(rows.begin(), rows.end(), is_first)) {
            columns[key] = first;
            continue;
        }
        Json& column = columns[key] = Json::array();
        for (const Json& row : rows) column.push_back(row.at(key));
    }
    return columns;
}

// Errors: BadRecord, for what no journal has in a column whose values are like that.
void require_column(const std::string& key, const Json& column, const Json& like) {
    const auto require = [&](const Json& value) {
        if (value.is_string() && value.get_ref<const std::string&>().size() > kLongestText)
            throw BadRecord{
                fmt::format("a text in the column '{}' of the curve is longer than {} bytes", key, kLongestText)};
        if (like.is_number_integer() && value.is_number() && value < 0)
            throw BadRecord{
                fmt::format("the column '{}' of the curve has {}, which is less than 0", key, value.dump())};
    };
    if (column.is_object()) throw BadRecord{fmt::format("the column '{}' of the curve is an object", key)};
    if (!column.is_array()) require(column);
    if (column.is_array()) std::for_each(column.begin(), column.end(), require);
}

// Errors: BadRecord, for columns that are not those of `like`, or of different lengths.
Rows rows_of_columns(const Json& columns, const Json& like) {
    if (!columns.is_object() || columns.size() != like.size() || !columns.contains("step") ||
        !columns.at("step").is_array())
        throw BadRecord{"a part of the curve has other columns"};
    const std::size_t length = columns.at("step").size();
    if (length > kMostRows) throw BadRecord{fmt::format("a part of the curve has more than {} rows", kMostRows)};
    Rows rows(length, Json::object());
    for (const auto& [key, column] : columns.items()) {
        if (!like.contains(key)) throw BadRecord{fmt::format("a part of the curve has the unknown column '{}'", key)};
        require_column(key, column, like.at(key));
        if (column.is_array() && column.size() != length)
            throw BadRecord{fmt::format("the column '{}' of the curve has another length than its steps", key)};
        for (std::size_t i = 0; i < length; ++i) rows[i][key] = column.is_array() ? column[i] : column;
    }
    return rows;
}

// A share of the database has seven digits; with the fewest that give it back it is short.
double short_share(double share) {
    return std::strtod(fmt::format("{}", static_cast<float>(share)).c_str(), nullptr);
}

template <class Record>
Rows point_rows(Connection& connection, std::int64_t attempt_id, const char* table, const Steps& steps) {
    Statement query(
        connection,
        fmt::format("SELECT {} FROM {} WHERE attempt_id = ?1 AND step = ?2", columns_of<Record>(), table).c_str());
    Rows rows;
    for (const std::int64_t step : steps) {
        if (query.bind(attempt_id, step).step()) rows.push_back(journal_fields(record_of<Record>(query)));
        query.run();
    }
    return rows;
}

Rows expert_rows(Connection& connection, std::int64_t attempt_id, const Steps& steps) {
    Rows rows;
    for (const std::int64_t step : steps)
        for (journal::ExpertLoad& load : read_expert_loads_at(connection, attempt_id, step)) {
            for (double& share : load.load) share = short_share(share);
            rows.push_back(journal_fields(load));
        }
    return rows;
}

Rows validation_rows(Connection& connection, std::int64_t attempt_id, const Steps& steps) {
    Statement query(
        connection,
        "SELECT v.step, v.task, v.task_version, v.split, v.shots, m.name, m.unit, m.better, v.value, v.kind,"
        " v.n, v.stderr, v.chance, v.score_key FROM evaluation v JOIN metric m ON m.id = v.metric_id"
        " WHERE v.attempt_id = ?1 AND v.score_key = ?2 ORDER BY v.step, v.task, v.split, v.shots, m.name, m.unit");
    query.bind(attempt_id, kWhileTraining);
    Rows rows;
    while (query.step()) {
        if (!std::binary_search(steps.begin(), steps.end(), query.integer(0))) continue;
        const auto real_or_nan = [&](int column) { return restore(query.real(column), query.is_null(column) ? 1 : 0); };
        rows.push_back(journal_fields(journal::Evaluation{query.integer(0), query.text(1), query.text(2), query.text(3),
                                                          query.integer(4), query.text(5), query.text(6), query.text(7),
                                                          restore(query.real(8), query.integer(9)), query.integer(10),
                                                          real_or_nan(11), real_or_nan(12), query.text(13)}));
    }
    return rows;
}

constexpr const char* kTrainSteps = "SELECT step FROM train_point WHERE attempt_id = ?1 ORDER BY step";
constexpr const char* kSamplingSteps = "SELECT step FROM sampling_point WHERE attempt_id = ?1 ORDER BY step";
constexpr const char* kExpertSteps = "SELECT DISTINCT step FROM expert_load WHERE attempt_id = ?1 ORDER BY step";
constexpr const char* kValidationSteps =
    "SELECT DISTINCT step FROM evaluation WHERE attempt_id = ?1 AND score_key = 'while training' ORDER BY step";

// The definition of each part of the record, and the key that identifies its rows.
struct Part {
    const char* key;
    const char* steps;  // the query of them
    Json like;
    std::vector<const char*> names;
};

const std::vector<Part>& parts() {
    static const std::vector<Part> all = {
        {"train", kTrainSteps, journal_fields(journal::TrainPoint{}), {"step"}},
        {"sampling", kSamplingSteps, journal_fields(journal::Sampling{}), {"step"}},
        {"experts", kExpertSteps, journal_fields(journal::ExpertLoad{}), {"step", "layer"}},
        {"validations",
         kValidationSteps,
         journal_fields(journal::Evaluation{}),
         {"step", "task", "split", "shots", "metric", "unit"}}};
    return all;
}

Json name_of(const Part& part, const Json& row) {
    Json name = Json::array();
    for (const char* key : part.names) name.push_back(row.at(key));
    return name;
}

// Rows by part, in the order of the file. Steps ascend where a row has only a step as its key.
std::map<std::string, Rows> rows_of(const Json& record) {
    std::map<std::string, Rows> all;
    for (const auto& [key, columns] : record.items()) {
        if (key == "attempt") continue;
        const auto part =
            std::find_if(parts().begin(), parts().end(), [&name = key](const Part& one) { return name == one.key; });
        if (part == parts().end()) throw BadRecord{fmt::format("it has the unknown key '{}'", key)};
        all[key] = rows_of_columns(columns, part->like);
        for (std::size_t i = 1; i < all[key].size(); ++i)
            if (!(name_of(*part, all[key][i - 1]) < name_of(*part, all[key][i])))
                throw BadRecord{fmt::format("the rows of its '{}' are not in order", key)};
    }
    return all;
}

Rows known_rows(Connection& connection, std::int64_t attempt_id, const std::string& key, const Rows& like) {
    Steps steps;
    for (const Json& row : like)
        if (row.at("step").is_number_integer()) steps.push_back(row.at("step").get<std::int64_t>());
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    if (key == "train") return point_rows<journal::TrainPoint>(connection, attempt_id, "train_point", steps);
    if (key == "sampling") return point_rows<journal::Sampling>(connection, attempt_id, "sampling_point", steps);
    if (key == "experts") return expert_rows(connection, attempt_id, steps);
    return validation_rows(connection, attempt_id, steps);
}

void store_rows(Connection& connection, std::int64_t attempt_id, std::int64_t code_id,
                const std::map<std::string, Rows>& all) {
    AttemptPosition position;
    position.code_id = code_id;
    position.last_step = -1;  // a step at or before it would discard what follows it
    JournalRows rows(connection, attempt_id, position);
    const auto each = [&](const char* key, const auto& action) {
        if (const auto found = all.find(key); found != all.end())
            for (const Json& row : found->second) action(row);
    };
    const auto add = [&](const auto& record) {
        require_possible(record);
        rows.add(record);
    };
    each("train", [&](const Json& row) { add(journal_record<journal::TrainPoint>(row)); });
    each("sampling", [&](Json row) {
        row["epochs"] = Json::array();  // which a thinned curve leaves out
        rows.add(journal_record<journal::Sampling>(std::move(row)));
    });
    each("experts", [&](const Json& row) { add(journal_record<journal::ExpertLoad>(row)); });
    each("validations", [&](const Json& row) {
        if (row.at("score_key") != kWhileTraining) throw BadRecord{"a validation of its curve is a score"};
        add(journal_record<journal::Evaluation>(row));
    });
}

// The rows of a part whose names are known, by name.
std::map<Json, Json> known_by_name(Connection& connection, std::int64_t attempt_id, const Part& part,
                                   const Rows& like) {
    std::map<Json, Json> known;
    for (Json& row : known_rows(connection, attempt_id, part.key, like)) {
        const Json name = name_of(part, row);
        known[name] = std::move(row);
    }
    return known;
}

const Part& part_of(const std::string& key) {
    return *std::find_if(parts().begin(), parts().end(), [&](const Part& one) { return key == one.key; });
}

// Errors: BadRecord, where a row lies outside of the steps that are known.
Rows missing_rows(Connection& connection, std::int64_t attempt_id, const Part& part, const Rows& rows) {
    const Steps steps = steps_in(connection, attempt_id, part.steps);
    const std::map<Json, Json> known = known_by_name(connection, attempt_id, part, rows);
    Rows missing;
    for (const Json& row : rows) {
        if (known.contains(name_of(part, row))) continue;
        if (steps.empty() || row.at("step") < steps.front() || row.at("step") > steps.back())
            throw BadRecord{fmt::format("its {} has step {}, where those that are known {}", part.key,
                                        row.at("step").dump(),
                                        steps.empty() ? std::string("are none")
                                                      : fmt::format("go from {} to {}", steps.front(), steps.back()))};
        missing.push_back(row);
    }
    return missing;
}

}  // namespace

Json curve_record(Connection& connection, std::int64_t attempt_id, std::size_t most_points) {
    const KeptSteps kept = kept_steps(connection, attempt_id);
    if (most_points > 0 && !kept.are_some) most_points = kFewest;  // no report shows them
    const auto steps = [&](const char* sql, std::size_t most) {
        return thinned(steps_in(connection, attempt_id, sql), most, kept.last);
    };
    const std::size_t expert_steps = most_points == 0 ? 0 : std::max(kFewest, most_points / kStepsAnExpertStep);
    const std::map<std::string, Rows> found = {
        {"train",
         point_rows<journal::TrainPoint>(connection, attempt_id, "train_point", steps(kTrainSteps, most_points))},
        {"sampling",
         point_rows<journal::Sampling>(connection, attempt_id, "sampling_point", steps(kSamplingSteps, most_points))},
        {"experts", expert_rows(connection, attempt_id, steps(kExpertSteps, expert_steps))},
        {"validations", validation_rows(connection, attempt_id, steps(kValidationSteps, most_points))}};
    Json record;
    for (const auto& [key, rows] : found)
        if (!rows.empty()) record[key] = columns_of_rows(rows);
    return record;
}

void store_curve(Connection& connection, std::int64_t attempt_id, std::int64_t code_id, const Json& record) {
    store_rows(connection, attempt_id, code_id, rows_of(record));
}

void require_same_curve(Connection& connection, std::int64_t attempt_id, const Json& record) {
    for (const auto& [key, rows] : rows_of(record)) {
        const Part& part = part_of(key);
        const std::map<Json, Json> known = known_by_name(connection, attempt_id, part, rows);
        for (const Json& row : rows) {
            const auto found = known.find(name_of(part, row));
            if (found == known.end() || found->second == row) continue;
            for (const auto& [column, value] : row.items())
                if (found->second.at(column) != value)
                    throw BadRecord{fmt::format("step {} of its {} has '{}' {}, where {} is known",
                                                row.at("step").dump(), key, column, value.dump(),
                                                found->second.at(column).dump())};
        }
    }
}

std::size_t repeated_bytes(const Json& record) {
    std::size_t bytes = 0;
    for (const Json& part : record) {
        if (!part.is_object() || !part.contains("step")) continue;
        for (const Json& column : part)
            if (column.is_string()) bytes += column.get_ref<const std::string&>().size() * part.at("step").size();
    }
    return bytes;
}

std::int64_t add_missing_points(Connection& connection, std::int64_t attempt_id, std::int64_t code_id,
                                const Json& record) {
    std::map<std::string, Rows> missing;
    std::int64_t count = 0;
    for (const auto& [key, rows] : rows_of(record)) {
        missing[key] = missing_rows(connection, attempt_id, part_of(key), rows);
        count += static_cast<std::int64_t>(missing[key].size());
    }
    if (count > 0) store_rows(connection, attempt_id, code_id, missing);
    return count;
}

}  // namespace deft::results_db
