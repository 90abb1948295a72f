#include "results_db/evidence/sweep_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/sha256.h"
#include "results_db/evidence/columns.h"
#include "results_db/evidence/local_paths.h"
#include "results_db/evidence/text_lines.h"
#include "results_db/open.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

constexpr const char* kClaim = "claim";

Json verdict_of(const Statement& row) {
    return object_of(row, 0, kVerdictColumns);
}

std::vector<Json> claim_verdicts(Connection& connection) {
    Statement query(
        connection,
        ("SELECT " + column_names(kVerdictColumns, "v") + " FROM verdict v WHERE v.kind = ?1 ORDER BY v.id").c_str());
    query.bind(kClaim);
    std::vector<Json> all;
    while (query.step()) all.push_back(verdict_of(query));
    return all;
}

// The key of a verdict: a check answers it once.
Json question_of(const Json& verdict) {
    Json question = Json::array();
    question.push_back(verdict.at("check_uid"));
    const Json& subject = verdict.at("subject_json");
    for (const char* key : {"table", "claim", "scale", "sweep", "spec_sha256"})
        question.push_back(subject.is_object() ? subject.value(key, Json()) : Json());
    return question;
}

}  // namespace

Json sweep_record(Connection& connection, std::int64_t sweep_id) {
    Statement query(
        connection,
        ("SELECT " + column_names(kSweepColumns, "s") + ", s.command FROM sweep s WHERE s.id = ?1").c_str());
    if (!query.bind(sweep_id).step()) connection.fail("read");
    Json record = object_of(query, 0, kSweepColumns);
    // Its root is a folder of this machine.
    if (record.contains("command"))
        record["command"] = without_absolute_paths(without_root(query.text(static_cast<int>(kSweepColumns.size()))));
    return record;
}

void require_sweep(const Json& record) {
    require_columns(record, kSweepColumns);
    for (const char* key : {"points", "command"})
        if (record.contains(key) && !is_words_alone(text_at(record, key)))
            throw BadRecord{fmt::format("its '{}' is more than the words of a command", key)};
    if (record.contains("command") && !text_at(record, "command").starts_with("deft run "))
        throw BadRecord{"its 'command' is not a deft run"};
}

std::int64_t store_sweep(Connection& connection, const Json& record, const std::string& run_suffix) {
    Json with_root = record;
    if (record.contains("command")) with_root["command"] = text_at(record, "command") + run_suffix;
    Statement insert(connection, insert_into("sweep", "uid, file_sha256, use_order", kSweepColumns).c_str());
    insert.bind(random_uid(), sha256(text_or_empty(record, "spec_toml")),
                connection.integer("SELECT 1 + ifnull(max(use_order), 0) FROM sweep"));
    bind_columns(insert, 4, with_root, kSweepColumns);
    insert.run();
    return connection.last_id();
}

std::string differing_key(const Json& known, const Json& record) {
    const Json a = without_absolute_paths(known), b = without_absolute_paths(record);
    for (const char* key : {"overrides_json", "scale", "baseline"}) {
        if (a.value(key, Json()) == b.value(key, Json())) continue;
        // Older programs did not keep them.
        const std::string name = key;
        if (name == "scale" && (a.value(key, Json()) == "unknown" || b.value(key, Json()) == "unknown")) continue;
        if (name == "baseline" && !(a.contains(key) && b.contains(key))) continue;
        return name;
    }
    return {};
}

bool store_first_run(Connection& connection, std::int64_t sweep_id, const Json& record) {
    const Json known = sweep_record(connection, sweep_id);
    const std::int64_t known_ms = known.at("created_ms").get<std::int64_t>(),
                       ms = record.at("created_ms").get<std::int64_t>();
    const bool knows = known.contains("claims_json"), has = record.contains("claims_json");
    if (ms == known_ms && knows && has) {
        if (known.at("claims_json") != without_absolute_paths(record.at("claims_json")))
            throw BadRecord{
                "its 'claims_json' is not what the sweep was to be judged by when it first ran, as that is known",
                "find out which of the two was changed, and merge the other"};
        return false;
    }
    if (has == knows ? ms >= known_ms : knows) return false;
    Statement(connection, "UPDATE sweep SET created_ms = ?2, claims_json = ?3 WHERE id = ?1")
        .bind(sweep_id, ms, has ? record.at("claims_json").dump() : std::string())
        .run();
    return true;
}

bool differ_in_seeds_alone(const Json& a, const Json& b) {
    return std::all_of(std::begin(kSweepColumns), std::end(kSweepColumns), [&](const Column& column) {
        constexpr std::array kMayDiffer = {"spec_sha256", "created_ms", "claims_json", "command", "title", "points"};
        const auto is_it = [&](const char* key) { return std::string(key) == column.name; };
        return std::any_of(kMayDiffer.begin(), kMayDiffer.end(), is_it) ||
               a.value(column.name, Json()) == b.value(column.name, Json());
    });
}

void store_seeds(Connection& connection, std::int64_t sweep_id, const std::vector<std::int64_t>& seeds,
                 const std::string& run_suffix) {
    const std::string arguments = fmt::format(" --seeds {}{}", fmt::join(seeds, ","), run_suffix);
    Statement(connection, "UPDATE sweep SET command = 'deft run ' || points || ?2 WHERE id = ?1 AND points <> ''")
        .bind(sweep_id, arguments)
        .run();
}

std::vector<Json> verdict_records(Connection& connection, const SweepHead& sweep) {
    std::vector<std::string> others;  // other specs of that name in this database
    for (const SweepHead& head : read_sweeps(connection))
        if (head.name == sweep.name && head.spec_sha256 != sweep.spec_sha256) others.push_back(head.spec_sha256);
    std::vector<Json> all = claim_verdicts(connection);
    std::erase_if(all, [&](const Json& verdict) {
        const Json& subject = verdict.at("subject_json");
        if (!subject.is_object() || subject.value("sweep", Json()) != sweep.name) return true;
        const Json spec = subject.value("spec_sha256", Json());
        return std::any_of(others.begin(), others.end(), [&](const std::string& other) { return spec == other; });
    });
    return all;
}

bool store_verdict(Connection& connection, const std::string& sweep, const Json& record) {
    require_columns(record, kVerdictColumns);
    if (record.at("kind") != kClaim) throw BadRecord{"it is a verdict on no claim"};
    const Json& subject = record.at("subject_json");
    if (!subject.is_object() || subject.value("sweep", Json()) != sweep)
        throw BadRecord{fmt::format("its 'subject_json' is not of the sweep {}", sweep)};
    const Json spec = subject.value("spec_sha256", Json());  // its own, or one whose seeds have been joined
    if (!spec.is_null() && !(spec.is_string() && is_sha256(spec.get<std::string>())))
        throw BadRecord{"the 'spec_sha256' of its 'subject_json' is not a SHA-256 hash"};
    const Json comparable = without_absolute_paths(record);
    for (const Json& known : claim_verdicts(connection)) {
        if (known == comparable) return false;
        if (question_of(known) == question_of(comparable))
            throw BadRecord{fmt::format("the check {} has another verdict on this claim already: {}",
                                        text_at(record, "check_uid"), known.at("result").dump()),
                            "find out which of the two was changed, and merge the other"};
    }
    Statement insert(connection, insert_into("verdict", "", kVerdictColumns).c_str());
    bind_columns(insert.bind(), 1, record, kVerdictColumns);
    insert.run();
    return true;
}

}  // namespace deft::results_db
