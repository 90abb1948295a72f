#include "sweeps/gate/google_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "base/files.h"
#include "sweeps/driver/foreign_json.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 64 << 20;  // a hundred thousand rows
constexpr int kMostDepth = 20;
constexpr const char* kForeign =
    "give the file that a program wrote with --benchmark_out=FILE --benchmark_out_format=json";

// Replaces these words by null. Outside of strings JSON has letters only in true, false and null.
std::string without_nonfinite(const std::string& text) {
    std::string out;
    out.reserve(text.size());
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t taken = 0;
        if (!in_string)
            for (const std::string_view word : {"-Infinity", "Infinity", "-NaN", "NaN", "-nan", "nan", "-inf", "inf"})
                if (taken == 0 && text.compare(i, word.size(), word) == 0) taken = word.size();
        if (taken > 0) {
            out += "null";
            i += taken - 1;
            continue;
        }
        out += text[i];
        if (in_string && text[i] == '\\' && i + 1 < text.size())
            out += text[++i];
        else if (text[i] == '"')
            in_string = !in_string;
    }
    return out;
}

Place place_of(const fs::path& file, const std::string& text, std::size_t byte) {
    const std::string_view before = std::string_view(text).substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {file.string(), static_cast<int>(line) + 1, static_cast<int>(before.size() - line_start) + 1};
}

Json parse(const fs::path& file, const std::string& text) {
    const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
        if (depth > kMostDepth)
            throw Error(ErrorKind::data, Place{file.string()}, "the JSON is nested too deeply", kForeign,
                        "the database");
        return true;
    };
    try {
        return Json::parse(text, shallow);
    } catch (const Json::parse_error& error) {
        const bool cut = error.byte >= text.size();
        throw Error(
            ErrorKind::data, place_of(file, text, error.byte),
            cut ? "the JSON ends in the middle: the program that wrote it may have been stopped" : "not valid JSON",
            cut ? "run the program to its end" : kForeign, "the database");
    } catch (const Json::exception&) {  // a number beyond all doubles
        throw Error(ErrorKind::data, Place{file.string()}, "a number in the JSON is out of range", kForeign,
                    "the database");
    }
}

bool is_true(const Json& row, const char* key) {
    const auto found = row.find(key);
    return found != row.end() && found->is_boolean() && found->get<bool>();
}

// "BM_sort/64" of "BM_sort/64/min_time:0.100/repeats:3/threads:2": for how long it was timed does not make it another
// series. A name that consists of settings alone stays as it is.
std::string without_settings(const std::string& name) {
    static constexpr std::array<std::string_view, 5> kSettings = {
        "min_time:", "min_warmup_time:", "repeats:", "iterations:", "threads:"};
    std::string out;
    for (std::size_t from = 0; from <= name.size();) {
        const std::size_t to = std::min(name.find('/', from), name.size());
        const std::string_view part = std::string_view(name).substr(from, to - from);
        const bool setting = from > 0 && std::any_of(kSettings.begin(), kSettings.end(),
                                                     [&](std::string_view start) { return part.starts_with(start); });
        if (!setting) out += (from == 0 ? "" : "/") + std::string(part);
        from = to + 1;
    }
    return out.empty() ? name : out;
}

// "mean" of "BM_sort_mean", as versions before 1.5 name aggregates; empty for none.
std::string aggregate_of(const Json& row, const std::string& name) {
    if (text_of(row, "run_type") == "aggregate") return text_of(row, "aggregate_name");
    if (row.contains("run_type")) return {};
    for (const char* aggregate : {"mean", "median", "stddev", "cv", "BigO", "RMS"})
        if (name.ends_with(std::string("_") + aggregate)) return aggregate;
    return {};
}

std::string base_name(const Json& row, const std::string& aggregate) {
    if (const std::string name = text_of(row, "run_name"); !name.empty()) return name;
    const std::string name = text_of(row, "name");
    const std::string ending = "_" + aggregate;
    const bool more_than_ending = name.size() > ending.size() && name.ends_with(ending);
    return aggregate.empty() || !more_than_ending ? name : name.substr(0, name.size() - ending.size());
}

// The real time of a row in seconds; or why there is none.
struct RowTime {
    double seconds = 0;
    std::string missing;
};

RowTime time_of(const Json& row) {
    static const std::map<std::string, double> kUnits = {
        {"", 1e-9}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    if (is_true(row, "error_occurred")) return {0, "it failed: " + text_of(row, "error_message")};
    if (is_true(row, "skipped")) return {0, "it was skipped: " + text_of(row, "skip_message")};
    const std::string unit_name = text_of(row, "time_unit");
    const auto unit = kUnits.find(unit_name);
    if (unit == kUnits.end()) return {0, "its time unit is '" + unit_name + "'"};
    const double seconds = number_of(row, "real_time").value_or(std::nan("")) * unit->second;
    if (std::isnan(seconds)) return {0, "it has no real_time"};
    if (!(seconds > 0 && std::isfinite(seconds))) return {0, fmt::format("its real_time is {} s", seconds)};
    return {seconds, ""};
}

// The summary of one benchmark's rows.
struct Gathered {
    ImportedBenchmark benchmark;
    std::optional<double> mean, median;
    std::string missing;  // why a row gave no time
};

class Gatherer {
 public:
    void take(const Json& row) {
        if (!row.is_object() || text_of(row, "name").empty()) {
            left_out_.emplace_back(fmt::format("entry {}", ++entries_), "it has no name");
            return;
        }
        ++entries_;
        const std::string aggregate = aggregate_of(row, text_of(row, "name"));
        Gathered& gathered = of(row, base_name(row, aggregate));
        const bool is_time = text_of(row, "aggregate_unit") != "percentage";
        if (!aggregate.empty() && (!is_time || (aggregate != "mean" && aggregate != "median"))) return;
        const RowTime time = time_of(row);
        if (!time.missing.empty()) {
            gathered.missing = time.missing;
        } else if (aggregate.empty()) {
            add_work(row, time.seconds, gathered.benchmark);
            gathered.benchmark.seconds.push_back(time.seconds);
        } else {
            (aggregate == "mean" ? gathered.mean : gathered.median) = time.seconds;
        }
    }

    void finish(GoogleBenchmarkFile& file) {
        file.left_out = std::move(left_out_);
        for (Gathered& one : gathered_) {
            ImportedBenchmark& benchmark = one.benchmark;
            if (benchmark.seconds.empty() && (one.median || one.mean)) {
                benchmark.seconds = {one.median ? *one.median : *one.mean};
                benchmark.summarised = true;
            }
            if (!one.missing.empty() || benchmark.seconds.empty())
                file.left_out.emplace_back(benchmark.name, one.missing.empty() ? "it has no time" : one.missing);
            if (!benchmark.seconds.empty()) file.benchmarks.push_back(std::move(benchmark));
        }
    }

 private:
    // Rows of the same name, threads and registration; versions before 1.6 do not say the latter.
    Gathered& of(const Json& row, const std::string& full_name) {
        const std::string name = without_settings(full_name);
        const std::int64_t threads = std::clamp<std::int64_t>(count_of(row, "threads", 1), 1, 1 << 20);
        const auto key = std::make_tuple(full_name, threads, count_of(row, "family_index", -1),
                                         count_of(row, "per_family_instance_index", -1));
        const auto [found, is_new] = places_.try_emplace(key, gathered_.size());
        if (is_new) {
            const int count = ++of_name_[{name, threads}];
            Gathered& fresh = gathered_.emplace_back();
            fresh.benchmark.name = count == 1 ? name : fmt::format("{}#{}", name, count);
            fresh.benchmark.threads = threads;
        }
        return gathered_[found->second];
    }

    // Rates times seconds: whole numbers but for rounding.
    static void add_work(const Json& row, double seconds, ImportedBenchmark& benchmark) {
        const auto amount = [&](const char* key) {
            const double rate = number_of(row, key).value_or(0);
            return rate > 0 && std::isfinite(rate * seconds) ? std::round(rate * seconds) : 0;
        };
        benchmark.flops = amount("FLOP/s");
        benchmark.bytes = amount("bytes/s");
    }

    std::size_t entries_ = 0;
    std::vector<Gathered> gathered_;
    std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>, std::size_t> places_;
    std::map<std::pair<std::string, std::int64_t>, int> of_name_;
    std::vector<std::pair<std::string, std::string>> left_out_;
};

}  // namespace

GoogleBenchmarkFile parse_google_benchmark(const std::string& text, const fs::path& file) {
    const Json json = parse(file, without_nonfinite(text));
    const auto rows = json.is_object() ? json.find("benchmarks") : json.end();
    if (!json.is_object() || rows == json.end() || !rows->is_array())
        throw Error(ErrorKind::data, Place{file.string()}, "this JSON has no list of \"benchmarks\"", kForeign,
                    "the database");
    GoogleBenchmarkFile out;
    if (const auto context = json.find("context"); context != json.end() && context->is_object())
        out.context = *context;
    Gatherer gatherer;
    for (const Json& row : *rows) gatherer.take(row);
    gatherer.finish(out);
    return out;
}

std::string read_google_benchmark(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error))
        throw Error(ErrorKind::usage, fmt::format("file {} does not exist", file.string()), kForeign);
    if (!fs::is_regular_file(file, error))
        throw Error(ErrorKind::io, fmt::format("{} cannot be read", file.string()), kForeign);
    const std::uintmax_t size = fs::file_size(file, error);
    if (!error && size > kMostBytes)
        throw Error(ErrorKind::data, Place{file.string()},
                    fmt::format("{} MiB are more than the {} that a benchmark's results may have", size >> 20,
                                kMostBytes >> 20),
                    kForeign, "the database");
    return read_file(file);
}

}  // namespace deft::sweeps
