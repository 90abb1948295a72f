#include "results_db/evidence/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "results_db/evidence/columns.h"
#include "results_db/evidence/local_paths.h"
#include "results_db/imported_model.h"
#include "results_db/sweep_places.h"

namespace deft::results_db {

namespace {

constexpr std::array kPlace = {
    Column{"case_key", Holds::name},
    Column{"axes_json", Holds::json},
    Column{"stage", Holds::name, nullptr, Absent::empty},
    Column{"seeds", Holds::text, nullptr, Absent::empty},
    Column{"imported_json", Holds::json, nullptr, Absent::empty},
};

// "1.3"; empty for what is none.
std::vector<std::int64_t> seeds_in(const std::string& text) {
    std::vector<std::int64_t> seeds;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        std::int64_t seed = 0;
        const auto [after, error] = std::from_chars(at, end, seed);
        if (error != std::errc() || seed < 0 || (after != end && *after != '.')) return {};
        seeds.push_back(seed);
        if (after == end) return seeds;
        at = after + 1;
    }
}

Json row_of_place(const Json& place) {
    return {place.value("stage", ""), place.at("case_key"), place.at("axes_json")};
}

std::vector<std::int64_t> seeds_of_place(const Json& place, std::int64_t seed) {
    std::vector<std::int64_t> seeds = seeds_in(place.value("seeds", ""));
    return seeds.empty() ? std::vector{seed} : seeds;
}

const std::string kPlaceQuery = "SELECT " + column_names(kPlace, "m") +
                                ", m.experiment_id, m.axes_json, m.scores_json, e.seed, e.config_hash, e.variant_hash"
                                " FROM sweep_member m JOIN experiment e ON e.id = m.experiment_id WHERE m.sweep_id = ?1"
                                " ORDER BY m.ordinal, m.use_order, e.config_hash";
constexpr int kBehindPlace = static_cast<int>(kPlace.size());

struct StoredPlace {
    KnownPlace known;
    Json columns;
    Json asked;  // what its trial is to be scored by
};

// A task's file may lie anywhere, and goes on by its last name, as those of a configuration do.
Json asked_below(const Json& asked) {
    if (!asked.is_array()) return Json::array();
    Json below = without_absolute_paths(asked);
    for (Json& one : below)
        if (one.is_object() && one.contains("task")) one.at("task") = without_local_folders(one.at("task"));
    return below;
}

std::vector<StoredPlace> stored_places(Connection& connection, std::int64_t sweep_id) {
    Statement query(connection, kPlaceQuery.c_str());
    query.bind(sweep_id);
    std::vector<StoredPlace> places;
    std::map<Json, std::size_t> rows;  // by the first of their places
    while (query.step()) {
        StoredPlace place;
        place.columns = object_of(query, 0, kPlace);
        place.known.trial_id = query.integer(kBehindPlace);
        place.known.axes_json = query.text(kBehindPlace + 1);
        place.asked = try_parse_json(query.text(kBehindPlace + 2));
        place.known.seeds = seeds_of_place(place.columns, query.integer(kBehindPlace + 3));
        place.known.config_hash = query.text(kBehindPlace + 4);
        place.known.variant_hash = query.text(kBehindPlace + 5);
        place.known.row = row_of_place(place.columns);
        rows.emplace(place.known.row, rows.size());
        places.push_back(std::move(place));
    }
    std::stable_sort(places.begin(), places.end(), [&](const StoredPlace& a, const StoredPlace& b) {
        return std::pair(rows.at(a.known.row), a.known.seeds) < std::pair(rows.at(b.known.row), b.known.seeds);
    });
    return places;
}

}  // namespace

std::vector<KnownPlace> known_places(Connection& connection, std::int64_t sweep_id) {
    std::vector<KnownPlace> places;
    for (StoredPlace& place : stored_places(connection, sweep_id)) places.push_back(std::move(place.known));
    return places;
}

std::vector<Json> place_records(Connection& connection, std::int64_t sweep_id, const std::set<std::string>& hashes,
                                SharedValues& shared) {
    std::vector<Json> records;
    std::vector<Json> rows;
    for (const StoredPlace& place : stored_places(connection, sweep_id)) {
        if (rows.empty() || rows.back() != place.known.row) rows.push_back(place.known.row);
        if (!hashes.contains(place.known.config_hash)) continue;
        Json record = place.columns;
        record["trial"] = place.known.config_hash;
        record["row"] = rows.size() - 1;
        record["asked"] = shared.add(asked_below(place.asked));
        records.push_back(std::move(record));
    }
    return records;
}

KnownPlace place_in(const Json& record) {
    require_columns(record, kPlace, {"trial", "row", "asked"});
    if (!record.at("axes_json").is_object()) throw BadRecord{"its axes are not an object"};
    if (!record.contains("row") || !record.at("row").is_number_unsigned()) throw BadRecord{"it has no row"};
    if (record.contains("seeds") && seeds_in(record.at("seeds").get<std::string>()).empty())
        throw BadRecord{"its seeds are none"};
    KnownPlace place;
    place.config_hash = text_at(record, "trial");
    place.row = row_of_place(record);
    if (record.contains("seeds")) place.seeds = seeds_in(text_at(record, "seeds"));
    return place;
}

void store_place(Connection& connection, std::int64_t sweep_id, std::int64_t trial_id, const Json& record,
                 const SharedValues& shared) {
    const Json& asked = shared.at(record.value("asked", Json()));
    if (!asked.is_array()) throw BadRecord{"its trial's evaluation is not an array"};
    for (const Json& one : asked) {
        constexpr std::array kAsked = {Column{"task", Holds::text}, Column{"shots", Holds::count},
                                       Column{"key", Holds::text}};
        require_columns(one, kAsked);
        if (!stays_below(text_at(one, "task")))
            throw BadRecord{
                fmt::format("the file of a 'task' that is asked leads elsewhere: {}", text_at(one, "task"))};
    }
    if (record.contains("imported_json")) try {
            (void)imported_of(record.at("imported_json").dump());
        } catch (const Error&) {
            throw BadRecord{"its imported model cannot be read"};
        }
    Statement insert(connection,
                     fmt::format("INSERT INTO sweep_member (sweep_id, experiment_id, ordinal, scores_json,"
                                 " use_order, {}) VALUES (?1, ?2, 0, ?3, (SELECT ifnull(min(use_order), 0) - 1"
                                 "  FROM sweep_member WHERE sweep_id = ?1), ?4, ?5, ?6, ?7, ?8)",
                                 column_names(kPlace, ""))
                         .c_str());
    insert.bind(sweep_id, trial_id, asked.dump());
    bind_columns(insert, 4, record, kPlace);
    insert.run();
}

std::map<Json, std::set<std::string>> shown_variants(Connection& connection, std::int64_t sweep_id) {
    std::map<std::int64_t, KnownPlace> known;
    for (KnownPlace& place : known_places(connection, sweep_id)) known.emplace(place.trial_id, std::move(place));
    std::map<Json, std::set<std::string>> shown;
    for (const SweepPlace& place : places_of(connection, sweep_id)) {
        const Json axes = try_parse_json(place.axes_json);
        const Json row = {place.stage, place.recipe, axes.is_object() ? without_absolute_paths(axes) : Json::object()};
        shown[row].insert(known.at(place.trial_id).variant_hash);
    }
    return shown;
}

std::vector<Json> rows_in_order(const std::vector<KnownPlace>& places) {
    std::vector<Json> rows;
    std::set<Json> seen;
    for (const KnownPlace& place : places)
        if (seen.insert(place.row).second) rows.push_back(place.row);
    return rows;
}

std::vector<Json> joined_rows(const std::vector<Json>& rows, const std::vector<Json>& more) {
    std::list<Json> joined(rows.begin(), rows.end());
    std::map<Json, std::list<Json>::iterator> known;
    for (auto row = joined.begin(); row != joined.end(); ++row) known.emplace(*row, row);
    const auto common = std::find_if(more.begin(), more.end(), [&](const Json& row) { return known.contains(row); });
    auto next = common == more.end() ? joined.end() : known.at(*common);
    for (const Json& row : more) {
        const auto found = known.find(row);
        next = std::next(found == known.end() ? joined.insert(next, row) : found->second);
    }
    return {joined.begin(), joined.end()};
}

void number_places(Connection& connection, std::int64_t sweep_id, const std::vector<Json>& rows) {
    std::vector<KnownPlace> places = known_places(connection, sweep_id);
    std::map<Json, std::size_t> numbers;
    for (const Json& row : rows) numbers.emplace(row, numbers.size());
    const auto row_number = [&](const KnownPlace& place) {
        const auto found = numbers.find(place.row);
        return found == numbers.end() ? numbers.size() : found->second;
    };
    std::stable_sort(places.begin(), places.end(),
                     [&](const KnownPlace& a, const KnownPlace& b) { return row_number(a) < row_number(b); });
    Statement update(connection,
                     "UPDATE sweep_member SET ordinal = ?4 WHERE sweep_id = ?1 AND experiment_id = ?2 AND case_key = ?3"
                     " AND axes_json = ?5 AND stage = ?6");
    std::int64_t ordinal = -1;
    const KnownPlace* before = nullptr;
    for (const KnownPlace& place : places) {
        if (before == nullptr || before->row != place.row || before->seeds != place.seeds) ++ordinal;
        before = &place;
        update.bind(sweep_id, place.trial_id, place.row[1].get<std::string>(), ordinal, place.axes_json,
                    place.row[0].get<std::string>());
        update.run();
    }
}

}  // namespace deft::results_db
