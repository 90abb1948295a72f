#include "sweeps/cli/step_tables.h"

#include <fmt/format.h>

#include "base/median.h"
#include "base/text.h"
#include "reporting/numbers.h"

namespace deft::cli {

namespace {

constexpr double kMostTimePerFlop = 1.08;  // of the baseline's: what a technique's step may cost
constexpr double kMostLayerTime = 0.55;    // of a full layer's
constexpr double kMostTimeBeside = 2.2;    // of a quiet step's, beside one process on two processors

bool shows_avx512(const StepReport& report) {
    return report.peaks.fma.avx512_flops > 0 && !report.is_avx2;
}

std::vector<reporting::Cell> cells_of(const StepReport& report, const StepTimes& times, const StepTimes::Row& row) {
    const StepTimes::Row& baseline = times.rows.front();
    const double seconds = median(row.seconds), rate = row.flops / seconds;
    std::vector<reporting::Cell> cells = {times.model, row.name, fmt::format("{:.1f}", seconds * 1e3),
                                          fmt::format("{:.1f}", rate / 1e9),
                                          fmt::format("{:.2f}", rate / report.peaks.fma.avx2_flops)};
    if (shows_avx512(report)) cells.push_back(fmt::format("{:.2f}", rate / report.peaks.fma.avx512_flops));
    if (&row == &baseline) {
        cells.insert(cells.end(), {"1.000", "1.000", "1.00"});
        return cells;
    }
    if (row.torch && times.torches[*row.torch].gemm_flops < times.our_gemm_flops / 2) {
        cells.insert(cells.end(), {"1.000", "- (its GEMM is slow here)", "-"});
        return cells;
    }
    const double share = row.flops / baseline.flops;
    const sweeps::TimeRatio time = sweeps::time_ratio(row.seconds, baseline.seconds);
    cells.push_back(fmt::format("{:.3f}", share));
    cells.push_back(to_text(time));
    cells.push_back(fmt::format("{:.2f}", time.ratio / share));
    return cells;
}

std::string torch_note(const TorchNote& torch) {
    std::string text =
        fmt::format("PyTorch {} ({}): GEMM {}", torch.version, torch.blas, reporting::si(torch.gemm_flops, "FLOP/s"));
    if (!torch.compile_failure.empty()) text += "; torch.compile failed: " + torch.compile_failure;
    return text + ".";
}

std::string peak_note(const StepReport& report) {
    const kernels::FmaPeak& fma = report.peaks.fma;
    std::string text = "FMA peak measured in this run: AVX2 " + reporting::si(fma.avx2_flops, "FLOP/s");
    if (fma.avx512_flops > 0) text += ", AVX-512 " + reporting::si(fma.avx512_flops, "FLOP/s");
    return text + (report.is_avx2 ? "; libraries were held to AVX2." : ".");
}

std::vector<double> seconds_of_token(const StepTimes::Row& row) {
    std::vector<double> seconds = row.seconds;
    for (double& s : seconds) s /= row.tokens;
    return seconds;
}

std::string padding_note(const StepTimes& times) {
    const StepTimes::Row &packed = times.rows.front(), &padded = times.rows[times.padding->padded],
                         &full = times.rows[times.padding->full];
    return fmt::format(
        "{}: {:.1f}% of samples' rows is padding. The baseline packs samples: a step takes {} of one with padded rows, "
        "and "
        "a token {} of one in samples without padding.",
        times.model, 100 * times.padding->share, to_text(sweeps::time_ratio(packed.seconds, padded.seconds)),
        to_text(sweeps::time_ratio(seconds_of_token(packed), seconds_of_token(full))));
}

}  // namespace

std::string model_text(const engine::StepBench& bench) {
    const auto& m = bench.model;
    if (!bench.name.empty()) return bench.name;
    return fmt::format("{},{},{},{},{},{}", m.layers(), m.width, m.heads(), m.vocab, m.max_seqlen, bench.batch_size);
}

reporting::Table step_table(const StepReport& report, int threads, const sweeps::RoundSettings& rounds) {
    reporting::Table table;
    table.caption =
        fmt::format("One training step, {} thread(s), {}: median of {} interleaved rounds", threads,
                    report.is_avx2 ? "AVX2" : "native vectors", report.steps.front().rows.front().seconds.size());
    table.columns = {{"L,width,heads,V,T,B", reporting::Align::left},
                     {"step", reporting::Align::left},
                     {"ms"},
                     {"GFLOP/s"},
                     {"of AVX2"}};
    if (shows_avx512(report)) table.columns.push_back({"of AVX-512"});
    table.columns.insert(table.columns.end(), {{"FLOP share"}, {"time share"}, {"time/FLOPs"}});
    table.key_columns = 2;
    for (const StepTimes& times : report.steps)
        for (const StepTimes::Row& row : times.rows) table.rows.push_back(cells_of(report, times, row));
    table.notes.push_back(peak_note(report));
    table.notes.push_back(
        "FLOPs of a step: 6 x (parameters without the position table) x tokens + 12 x layers x width x "
        "length x tokens / 2 (causal); each layer by the tokens that it takes.");
    table.notes.push_back(
        fmt::format("random-LTD keeps half the tokens in all layers but the first and last; seqtru "
                    "takes half of each sample. Shares are of the baseline's step: {}. Target: time/FLOPs at most {}.",
                    method_of_ratios(rounds), kMostTimePerFlop));
    for (const StepTimes& times : report.steps)
        if (times.padding) table.notes.push_back(padding_note(times));
    for (const StepTimes& times : report.steps)
        for (const TorchNote& torch : times.torches)
            table.notes.push_back(fmt::format("{}: {} Ours on the same matrices {}; no ratio below half of that.",
                                              times.model, torch_note(torch),
                                              reporting::si(times.our_gemm_flops, "FLOP/s")));
    return table;
}

reporting::Table layer_table() {
    reporting::Table table;
    table.caption = "The layers between first and last alone, forward and backward";
    table.columns = {{"L,width,heads,V,T,B", reporting::Align::left},
                     {"all tokens, ms"},
                     {"half, ms"},
                     {"FLOP share"},
                     {"time share"}};
    table.notes.push_back(
        fmt::format("half: random-LTD, choosing, gathering and scattering included; the update, which "
                    "is the same for both, is not. Target: a time share of at most {}.",
                    kMostLayerTime));
    return table;
}

reporting::Table beside_table(int processes) {
    reporting::Table table;
    table.caption =
        fmt::format("The baseline's step beside {}", counted(processes, "competing process", "competing processes"));
    table.columns = {{"L,width,heads,V,T,B", reporting::Align::left}, {"quiet, ms"}, {"beside, ms"}, {"time ratio"}};
    table.notes.push_back(
        fmt::format("Each process computes all the time. Target for one of them on two processors: a ratio "
                    "of at most {}.",
                    kMostTimeBeside));
    return table;
}

}  // namespace deft::cli
