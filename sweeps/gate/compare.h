#pragma once
// Two programs side by side on the same cases: pairs of samples in random order, until every case has its verdict.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/bench/run_benchmarks.h"
#include "reporting/analysis/statistics/paired_verdict.h"
#include "results_db/rows.h"

namespace deft::sweeps {

enum class Side { base, head };

struct ComparedPrograms {
    std::filesystem::path base, head;  // program files; may be one and the same
};

struct ComparisonSettings {
    int threads = 1;
    reporting::PairedRule rule;
    std::size_t launches = 3;            // of both programs before the first look, each taking its share of the pairs
    double sample_seconds = 1e-3;        // of a sample, at least; and 20 ticks of the clock
    double false_discovery_rate = 0.05;  // over the cases
    std::uint64_t seed = 0;              // of the orders
};

// Why a case was not measured to its end.
enum class Trouble { none, only_in_base, only_in_head, wrong_output, crashed };

// One measurement of a case, by processes that had measured nothing of it before.
struct Measurement {
    std::vector<reporting::TimedPair> pairs;  // seconds of one run, in the order measured
    reporting::PairedDecision decision;
};

// A case that both programs have.
struct CommonCase {
    std::string name;
    std::size_t base_place = 0, head_place = 0;  // in either program's list
};

// A case in one state of the caches.
struct ComparedCase {
    CommonCase which;
    std::string name, backend;
    kernels::CacheState state = kernels::CacheState::hot;
    double flops = 0, bytes = 0;  // of one run
    double measured_for = 0;      // seconds that this row's measurements took, its share of the launches included

    Trouble trouble = Trouble::none;
    Side side = Side::head;  // whose trouble
    std::string why;

    Measurement first;
    std::optional<Measurement>
        again;  // of a case that was found better or worse, also when corrected for the number of cases
    reporting::Verdict verdict = reporting::Verdict::unclear;
    double adjusted_p = 1;  // of the first measurement

    bool is_measured() const { return trouble == Trouble::none && first.decision.evidence.has_value(); }
    // The shown measurement: the second where one exists, since the first was chosen for being far from 1.
    const Measurement& shown() const { return again ? *again : first; }
};

// The cases that a pattern names, of either program; all without a pattern.
struct CaseNames {
    std::vector<CommonCase> both;
    std::vector<std::string> only_base, only_head;
};
struct KnownArms {
    results_db::Code base, head;
    CaseNames cases;
};
// Asks both programs who they are and what they measure. Errors: missing (the patterns match nothing), memory (a
// preset's step that this machine cannot hold twice), and Arm's.
KnownArms know(const ComparedPrograms& programs, const std::vector<std::string>& patterns);

// Every case of both, hot and cold, then those of one program alone. progress(what, share done).
// Errors: config (a rule that decides nothing), and Arm's but ArmCrashed.
std::vector<ComparedCase> compare(const ComparedPrograms& programs, const CaseNames& cases,
                                  const ComparisonSettings& settings,
                                  const std::function<void(const std::string&, double)>& progress);

}  // namespace deft::sweeps
