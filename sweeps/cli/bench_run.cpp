// deft bench list and run: every benchmark case, beside the roofline of this machine.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/median.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "base/usable_machine.h"
#include "engine/bench/corpus.h"
#include "engine/bench/tokenizer.h"
#include "kernels/bench/run_benchmarks.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "reporting/views/page/roofline_page.h"
#include "results_db/bench_peaks.h"
#include "sweeps/cli/bench_commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/gate/bench_cases.h"
#include "sweeps/gate/bench_noise.h"
#include "sweeps/gate/bench_records.h"
#include "sweeps/gate/preset_steps.h"
#include "sweeps/gate/rooflines.h"

namespace deft::cli {

namespace {

using kernels::BenchCase;
using kernels::BenchResult;

struct Chosen {
    std::vector<std::string> patterns;
    std::string backend = "all";
    std::string text, tokenizer, corpus;  // files of the user's own, in place of the program's cases

    std::vector<BenchCase> cases() const {
        if (!tokenizer.empty() && text.empty())
            throw Error(ErrorKind::usage, "--tokenizer encodes a text", "name a file with --text");
        if (text.empty() && corpus.empty()) return sweeps::chosen_benches(patterns, sweeps::chosen_backends(backend));
        std::vector<BenchCase> own;
        if (!text.empty()) own.push_back(engine::tokenizer_bench(text, tokenizer));
        if (!corpus.empty()) std::ranges::move(engine::corpus_benches(corpus), std::back_inserter(own));
        return own;
    }
};

struct BenchRunArguments {
    Chosen chosen;
    kernels::BenchSettings settings{usable_cores(), 0.05, 5};
    std::string json, html;
    std::string root = sweeps::kDefaultRoot;
};

int list(const Chosen& chosen) {
    reporting::Table table;
    table.columns = {{"case", reporting::Align::left}, {"backend", reporting::Align::left}, {"FLOPs"}, {"bytes"}};
    for (const BenchCase& bench : chosen.cases())
        table.rows.push_back({bench.name, bench.backend, reporting::si(bench.flops), reporting::si(bench.bytes, "B")});
    table.notes.push_back(
        "Of one run. Each is timed with hot caches and with cold ones, and on a GPU with arguments that "
        "rotate: deft bench run -k PATTERN. Training steps of presets are listed, run and compared where a pattern "
        "asks for "
        "them: -k 'step/*'.");
    print(table);
    return kExitOk;
}

double rate_of(const BenchResult& row) {
    return row.items / median(row.seconds);
}

// Items a second over those of the case beside it, in the same state of the caches, or with hot ones where it has no
// such row; empty where there is none.
std::string ratio_text(const BenchResult& row, const std::string& beside, const std::vector<BenchResult>& results) {
    const BenchResult* other = nullptr;
    for (const BenchResult& result : results)
        if (result.name == beside && !result.seconds.empty() &&
            (result.state == row.state || (other == nullptr && result.state == kernels::CacheState::hot)))
            other = &result;
    return other == nullptr ? "" : fmt::format("{:.3f}", rate_of(row) / rate_of(*other));
}

void add_row(reporting::Table& table, const BenchResult& row, const std::string& ratio) {
    if (!row.wrong.empty()) {
        table.rows.push_back(
            {row.name, row.backend, to_string(row.state), "wrong output", "-", "-", "-", "-", "-", "-"});
        return;
    }
    const sweeps::MedianTime time = sweeps::median_time(row.seconds);
    const auto rate = [&](double work) { return work > 0 ? reporting::si(work / time.median) : "-"; };
    table.rows.push_back({row.name, row.backend, to_string(row.state), reporting::small_seconds(time.median),
                          fmt::format("{:.1f}%", 100 * time.deviation / time.median), rate(row.flops), rate(row.bytes),
                          row.items > 0 ? rate(row.items) + " " + row.item + "s" : "-",
                          row.least_seconds > 0 ? fmt::format("{:.0f}%", 100 * row.least_seconds / time.median) : "-",
                          ratio.empty() ? "-" : ratio});
}

std::string note_of(const kernels::CudaPeaks& peaks) {
    return fmt::format(
        "Peaks measured in this run on {}: a product of large random matrices by cuBLASLt {} in f32, {} in bf16; "
        "memory {} "
        "read, {} copied; L2 ({}) {} read; {} exponentials a second. Between two events with nothing between them {}, "
        "with "
        "an empty kernel {}; from one empty kernel to the next {}.",
        peaks.device, reporting::si(peaks.f32_flops, "FLOP/s"), reporting::si(peaks.bf16_flops, "FLOP/s"),
        reporting::si(peaks.read, "B/s"), reporting::si(peaks.copy, "B/s"),
        reporting::si(static_cast<double>(peaks.cache_bytes), "B"), reporting::si(peaks.cached_read, "B/s"),
        reporting::si(peaks.exponentials), reporting::small_seconds(peaks.nothing_seconds),
        reporting::small_seconds(peaks.empty_kernel_seconds), reporting::small_seconds(peaks.launch_seconds));
}

std::string note_of(const kernels::Peaks& peaks, const BenchRunArguments& arguments) {
    return fmt::format(
        "Peaks measured in this run on {} thread(s): {} FMA {}; memory {} read, {} copied, {} changed in place; L2 {} "
        "read.",
        arguments.settings.threads, peaks.fma.widest_name(), reporting::si(peaks.fma.widest(), "FLOP/s"),
        reporting::si(peaks.memory.read, "B/s"), reporting::si(peaks.memory.copy, "B/s"),
        reporting::si(peaks.memory.update, "B/s"), reporting::si(peaks.memory.cached_read, "B/s"));
}

// The page has the notes of that table, too.
std::string roofline_page(const std::vector<BenchResult>& results, const kernels::Peaks& peaks,
                          const reporting::Table& table, const results_db::Code& code) {
    const results_db::Host host = sweeps::describe_host();
    const std::string about =
        fmt::format("{}, on {} ({}), {}, commit {}{}.", table.caption, host.hostname, host.cpu_model,
                    reporting::date(now_ms()), short_hash(code.git_sha), code.dirty ? " with changes" : "");
    return reporting::render_roofline_page(
        {"Rooflines of benchmarks", about, sweeps::bench_rooflines(results, peaks), table.notes});
}

int run_cases(const BenchRunArguments& arguments) {
    require_folder_of(arguments.html);
    const std::vector<BenchCase> cases = arguments.chosen.cases();
    std::vector<std::string> names;
    for (const BenchCase& one : cases) names.push_back(one.name);
    sweeps::require_memory_of_cases(names, 1);
    const bool on_device = std::ranges::any_of(cases, &BenchCase::on_device);
    const bool on_host = !std::ranges::all_of(cases, &BenchCase::on_device);
    std::ofstream json;
    if (!arguments.json.empty()) {
        json.open(arguments.json);
        if (!json) throw Error(ErrorKind::io, "cannot write " + arguments.json, "choose another file");
    }
    sweeps::BenchRecorder recorder(arguments.root);  // before anything is timed: it may be locked
    const results_db::Code code = sweeps::describe_code();
    sweeps::ProgressLine line;
    line.show("measuring the machine's peaks", 0);
    kernels::Peaks peaks = kernels::measure_peaks(arguments.settings.threads);
    if (on_device) peaks.device = kernels::measure_cuda_peaks();
    std::size_t rows = 0;
    const std::vector<BenchResult> results = kernels::run_benchmarks(
        cases, arguments.settings, peaks, sweeps::bench_context(code, peaks, arguments.settings.threads),
        arguments.json.empty() ? nullptr : &json, [&](const BenchResult& row) {
            line.show(row.name, static_cast<double>(++rows) / static_cast<double>(kernels::count_rows(cases)));
        });
    line.clear();
    std::vector<std::string> noise = sweeps::noise_notes(results);
    const std::string last =
        results_db::last_peaks(recorder.file(), sweeps::describe_host(), arguments.settings.threads);
    if (std::string note =
            sweeps::peaks_note(sweeps::peaks_json(peaks), try_parse_json(last), arguments.settings.threads);
        !note.empty())
        noise.push_back(std::move(note));
    recorder.record(results, arguments.settings, peaks, code);

    reporting::Table table;
    table.caption =
        fmt::format("{} case(s), {} thread(s), median of {} repetitions of {} s at least", cases.size(),
                    arguments.settings.threads, arguments.settings.repetitions, arguments.settings.min_seconds);
    table.columns = {{"case", reporting::Align::left},
                     {"backend", reporting::Align::left},
                     {"caches", reporting::Align::left},
                     {"time"},
                     {"MAD"},
                     {"FLOP/s"},
                     {"B/s"},
                     {"items/s"},
                     {"of roofline"},
                     {"ratio"}};
    std::map<std::string, std::string> beside;
    for (const BenchCase& one : cases)
        if (!one.beside.empty()) beside[one.name] = one.beside;
    bool all_right = true;
    for (const BenchResult& row : results) {
        const auto found = beside.find(row.name);
        const bool has_ratio = row.wrong.empty() && found != beside.end();
        add_row(table, row, has_ratio ? ratio_text(row, found->second, results) : "");
        all_right = all_right && row.wrong.empty();
        if (!row.wrong.empty()) table.notes.push_back("Wrong output, not timed: " + row.wrong + ".");
        if (!row.note.empty() && row.state == kernels::CacheState::hot)
            table.notes.push_back(fmt::format("{}: {}.", row.name, row.note));
    }
    for (const auto& [one, other] : beside)
        table.notes.push_back(
            fmt::format("ratio: items a second of {} over those of {}, which was timed next.", one, other));
    if (beside.empty()) {
        table.columns.pop_back();
        for (auto& row : table.rows) row.pop_back();
    }
    if (on_host) table.notes.push_back(note_of(peaks, arguments));
    if (on_device) table.notes.push_back(note_of(*peaks.device));
    table.notes.push_back(
        "MAD: median absolute deviation of the repetitions. Roofline: the longer of FLOPs at the FMA "
        "peak, on a GPU at the product's, and least bytes at memory's rate; of hot arguments that fit "
        "the last-level cache, at the L2's.");
    if (on_host) table.notes.push_back("cpu, cold: arguments in turn, three times the last-level cache together.");
    if (on_device)
        table.notes.push_back(
            "cuda, by events: cold: after a flush that writes and reads twice the L2. hot: one run "
            "after the other. rotating: the same, arguments in turn, three times the L2 together. "
            "f32 is without TF32, as in training.");
    table.notes.push_back(
        "Every kernel's outputs were compared with the double-precision reference in this run, the "
        "other cases' with another way to compute them.");
    table.notes.insert(table.notes.end(), noise.begin(), noise.end());
    print(table);
    print(fmt::format("raw repetitions: {}", recorder.file().string()));
    if (!arguments.html.empty()) {
        write_file_atomically(arguments.html, roofline_page(results, peaks, table, code));
        print(fmt::format("page: {}", arguments.html));
    }
    if (!arguments.json.empty()) {
        json.flush();
        if (!json) throw Error(ErrorKind::io, "cannot write all of " + arguments.json, "free some space");
        print("Google Benchmark's JSON: " + arguments.json);
    }
    return all_right ? kExitOk : kExitFailed;
}

void add_chosen(CLI::App& command, Chosen& chosen) {
    command
        .add_option("--backend", chosen.backend,
                    "cpu, cuda (f32 and bf16), or all that this build and this machine have")
        ->capture_default_str()
        ->check(CLI::IsMember({"cpu", "cuda", "all"}));
    add_patterns(command, chosen.patterns);
    command.add_option("--text", chosen.text, "Encode a text file of yours instead, plain, .gz or .zst");
    command.add_option("--tokenizer", chosen.tokenizer,
                       "For --text: a folder with vocab.json and merges.txt, or with vocab.txt; bytes without");
    command.add_option("--corpus", chosen.corpus,
                       "Open and read a dataset of yours instead: PREFIX.bin and PREFIX.idx, see deft data tokenize");
}

}  // namespace

Run bench_list(CLI::App& command) {
    auto chosen = std::make_shared<Chosen>();
    add_chosen(command, *chosen);
    return [chosen] { return list(*chosen); };
}

Run bench_run(CLI::App& command) {
    auto arguments = std::make_shared<BenchRunArguments>();
    kernels::BenchSettings& settings = arguments->settings;
    add_chosen(command, arguments->chosen);
    add_threads(command, settings.threads);
    add_number(command, "--repetitions", settings.repetitions, "Repetitions of each row", 1, 1000);
    add_number(command, "--min-time", settings.min_seconds, "Seconds of a repetition, at least", 1e-4, 60.0);
    command.add_option("--json-file", arguments->json, "Write Google Benchmark's JSON to this file, too");
    command.add_option("--html", arguments->html, "Write a page with rooflines of the kernels to this file, too");
    add_root(command, arguments->root);
    return [arguments] { return run_cases(*arguments); };
}

}  // namespace deft::cli
