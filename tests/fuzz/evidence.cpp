// results_db/evidence: what is merged can be read, and written again as the same text; what is refused changes nothing

#include "results_db/evidence/evidence.h"

#include "results_db/evidence/text_lines.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "tests/fuzz/target.h"
#include "tests/results_db/evidence/a_measured_sweep.h"

using namespace deft;
using namespace deft::results_db;

namespace {

std::int64_t rows_in(Connection& connection) {
    return connection.integer(
        "SELECT (SELECT count(*) FROM sweep) + (SELECT count(*) FROM experiment) + (SELECT count(*) FROM attempt)"
        " + (SELECT count(*) FROM train_point) + (SELECT count(*) FROM evaluation) + (SELECT count(*) FROM code)");
}

// A mutation seldom keeps the hashes: with recomputed ones it gets further.
std::string resealed(std::string_view text) {
    std::string sealed;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        begin = end + 1;
        if (std::count(line.begin(), line.end(), '[') + std::count(line.begin(), line.end(), '{') > 1000) continue;
        Json record = try_parse_json(line);
        if (!record.is_object() || !record.contains("record") || !record.at("record").is_string()) continue;
        const std::string kind = record.at("record");
        if (kind == "end") continue;
        for (const char* key : {"record", "check"}) record.erase(key);
        sealed += evidence_line(kind, std::move(record)) + '\n';
    }
    return sealed + end_line(sealed) + '\n';
}

void take(const std::string& text) {
    static std::unique_ptr<Connection> connection;  // empty: making one takes longer than refusing what is merged
    if (connection == nullptr) connection = open_in_memory("fuzzed");
    try {
        merge_evidence(*connection, {{"x.jsonl", text}}, "");
    } catch (const Error&) {
        if (rows_in(*connection) != 0) throw std::logic_error("what was refused left rows");
        return;
    }
    const std::string selector = connection->text("SELECT name FROM sweep");
    const std::string first = export_evidence(*connection, selector, 0).text;
    const auto second = open_in_memory("again");
    merge_evidence(*second, {{"first", first}}, "");
    connection.reset();
    if (export_evidence(*second, selector, 0).text != first) throw std::logic_error("another text the second time");
    const Reader reader({{"x.jsonl", text}});
    for (const TrialRow& trial : reader.sweep(selector).trials) (void)reader.curve(trial.config_hash);
    (void)reader.curves(reader.sweeps().front());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = fuzz::view(data, size);
    take(std::string(input));
    take(resealed(input));
    return 0;
}

std::vector<std::string> fuzz::seeds() {
    const test::MeasuredSweep one({.seeds = {1}, .budgets = {1.0}}), two({.seeds = {1, 2}, .points = 3});
    return {one.text(), two.text()};
}
