#pragma once
// Columns of the tables whose rows are structs. A column is added here, to its struct (results_db/rows.h) and to the
// schema (results_db/schema.cpp).

#include <array>
#include <string>
#include <vector>

#include "base/journal.h"
#include "results_db/column.h"
#include "results_db/gate_rows.h"
#include "results_db/rows.h"

namespace deft::results_db {

inline constexpr std::array kCodeColumns = {
    Column{"git_sha", Holds::text, at<&Code::git_sha>},
    Column{"git_branch", Holds::text, at<&Code::git_branch>, Absent::empty},
    Column{"dirty", Holds::count, at<&Code::dirty>},
    Column{"diff_sha256", Holds::text, at<&Code::diff_sha256>, Absent::empty},
    Column{"binary_sha256", Holds::text, at<&Code::binary_sha256>},
    Column{"compiler", Holds::text, at<&Code::compiler>, Absent::empty},
    Column{"cxx_flags", Holds::text, at<&Code::cxx_flags>, Absent::empty},
    Column{"build_type", Holds::text, at<&Code::build_type>, Absent::empty},
};
inline constexpr std::array kHostColumns = {
    Column{"hostname", Holds::text, at<&Host::hostname>, Absent::empty},
    Column{"arch", Holds::text, at<&Host::arch>, Absent::empty},
    Column{"cpu_model", Holds::text, at<&Host::cpu_model>, Absent::empty},
    Column{"cores", Holds::count, at<&Host::cores>},
    Column{"threads", Holds::count, at<&Host::threads>},
    Column{"mem_bytes", Holds::count, at<&Host::mem_bytes>},
    Column{"kernel", Holds::text, at<&Host::kernel>, Absent::empty},
    Column{"os", Holds::text, at<&Host::os>, Absent::empty},
    Column{"extra_json", Holds::json, at<&Host::extra_json>},
};
inline constexpr std::array kDatasetColumns = {
    Column{"sha256", Holds::text, at<&Dataset::sha256>, Absent::empty},
    Column{"name", Holds::text, at<&Dataset::name>, Absent::empty},
    Column{"n_bytes", Holds::count, at<&Dataset::bytes>, Absent::null},
    Column{"n_tokens", Holds::count, at<&Dataset::tokens>, Absent::null},
};
// Without file_sha256, which is the hash of spec_toml.
inline constexpr std::array kSweepColumns = {
    Column{"name", Holds::name, at<&Sweep::name>},
    Column{"spec_sha256", Holds::sha256, at<&Sweep::spec_sha256>},
    Column{"spec_toml", Holds::text, at<&Sweep::spec_toml>, Absent::empty},
    Column{"overrides_json", Holds::json, at<&Sweep::overrides_json>},
    Column{"created_ms", Holds::time, at<&Sweep::created_ms>},
    Column{"title", Holds::text, at<&Sweep::title>, Absent::empty},
    Column{"scale", Holds::name, at<&Sweep::scale>, Absent::empty},
    Column{"baseline", Holds::name, at<&Sweep::baseline>, Absent::empty},
    Column{"command", Holds::text, at<&Sweep::command>, Absent::empty},
    Column{"points", Holds::text, at<&Sweep::points>, Absent::empty},
    Column{"paper", Holds::name, at<&Sweep::paper>, Absent::empty},
    Column{"claims_json", Holds::json, at<&Sweep::claims_json>, Absent::empty},
};
// Without config_json, which the rows of one recipe share in evidence.
inline constexpr std::array kTrialColumns = {
    Column{"config_hash", Holds::sha256, at<&Trial::config_hash>},
    Column{"variant_hash", Holds::sha256, at<&Trial::variant_hash>},
    Column{"seed", Holds::integer, at<&Trial::seed>},
    Column{"label", Holds::text, at<&Trial::label>, Absent::empty},
    Column{"created_ms", Holds::time, at<&Trial::created_ms>},
};

// A member of the attempt, or of what it begins with.
template <auto First, auto... Rest>
FieldValue in_attempt(void* row) {
    auto& attempt = *static_cast<AttemptRow*>(row);
    return at<First, Rest...>(static_cast<decltype(detail::record_of(First))*>(&attempt));
}

// Attempt columns, in the groups that evidence keeps apart.
inline constexpr std::array kAttemptColumns = {
    Column{"uid", Holds::name, in_attempt<&NewAttempt::uid>},
    Column{"number", Holds::count, in_attempt<&NewAttempt::number>},
    Column{"kind", Holds::name},  // NewAttempt::work
    Column{"state", Holds::name, in_attempt<&AttemptRow::state>},
    Column{"fail_class", Holds::name, in_attempt<&AttemptRow::fail_class>, Absent::null},
    Column{"created_ms", Holds::time, in_attempt<&AttemptRow::created_ms>},
    Column{"started_ms", Holds::time, in_attempt<&AttemptRow::started_ms>, Absent::null},
    Column{"ended_ms", Holds::time, in_attempt<&AttemptRow::ended_ms>},
    Column{"exit_code", Holds::integer, in_attempt<&AttemptRow::exit_code>, Absent::null},
    Column{"term_signal", Holds::integer, in_attempt<&AttemptRow::term_signal>, Absent::null},
    Column{"error", Holds::text, in_attempt<&AttemptRow::error>, Absent::null},
    Column{"resume_step", Holds::count, in_attempt<&AttemptRow::resume_step>, Absent::null},
    Column{"total_steps", Holds::count, in_attempt<&AttemptRow::total_steps>, Absent::null},
    Column{"parameters", Holds::count, in_attempt<&AttemptRow::parameters>, Absent::null},
    Column{"threads", Holds::count, in_attempt<&AttemptRow::threads>, Absent::null},
    Column{"train_seconds", Holds::amount, in_attempt<&AttemptRow::train_seconds>, Absent::null},
    Column{"eval_seconds", Holds::amount, in_attempt<&AttemptRow::eval_seconds>, Absent::null},
    Column{"cpu_seconds", Holds::amount, in_attempt<&AttemptRow::cpu_seconds>, Absent::null},
    Column{"peak_rss_bytes", Holds::count, in_attempt<&AttemptRow::peak_rss_bytes>, Absent::null},
    Column{"own_seconds", Holds::amount, in_attempt<&AttemptRow::own_seconds>, Absent::null},
    Column{"epochs_json", Holds::json, in_attempt<&AttemptRow::epochs_json>, Absent::null},
    Column{"active_parameters", Holds::count, in_attempt<&AttemptRow::active_parameters>},
    Column{"held_seconds", Holds::amount, in_attempt<&AttemptRow::held_seconds>, Absent::null},
    Column{"waited_seconds", Holds::amount, in_attempt<&AttemptRow::waited_seconds>, Absent::null},
    Column{"start_note", Holds::text, in_attempt<&AttemptRow::start_note>, Absent::empty},
};
inline constexpr std::array kShapeColumns = {
    Column{"device", Holds::name, in_attempt<&NewAttempt::shape, &Shape::device>},
    Column{"devices", Holds::count, in_attempt<&NewAttempt::shape, &Shape::devices>},
    Column{"trials_per_device", Holds::count, in_attempt<&NewAttempt::shape, &Shape::trials_per_device>},
    Column{"ranks", Holds::count, in_attempt<&NewAttempt::shape, &Shape::ranks>},
    Column{"libraries_json", Holds::json, in_attempt<&NewAttempt::libraries_json>},
};
inline constexpr std::array kPriceColumns = {
    Column{"sku", Holds::text, at<&Price::sku>},
    Column{"usd_per_hour", Holds::amount, at<&Price::usd_per_hour>},
    Column{"price_source", Holds::text, at<&Price::source>},
    Column{"price_date_ms", Holds::time, at<&Price::date_ms>},
};
// The process and its machine: evidence has none of these.
inline constexpr std::array kLocalColumns = {
    Column{"worker", Holds::text, in_attempt<&NewAttempt::worker>, Absent::empty},
    Column{"slots_json", Holds::json, in_attempt<&NewAttempt::slots_json>},
    Column{"argv_json", Holds::json, in_attempt<&NewAttempt::argv_json>},
    Column{"workdir", Holds::text, in_attempt<&NewAttempt::workdir>, Absent::empty},
    Column{"machine_json", Holds::json, in_attempt<&NewAttempt::machine_json>},
    Column{"launcher", Holds::text, in_attempt<&NewAttempt::launcher>, Absent::empty},
    Column{"job", Holds::text, in_attempt<&NewAttempt::job>, Absent::empty},
    Column{"nodes", Holds::text, in_attempt<&NewAttempt::nodes>, Absent::empty},
    Column{"queue_seconds", Holds::amount, in_attempt<&NewAttempt::queue_seconds>, Absent::null},
};
// No struct holds these: journal::Spent has the time, and not the elapsed seconds.
inline constexpr std::array kSpentColumns = {
    Column{"step", Holds::count},
    Column{"elapsed_seconds", Holds::amount},
    Column{"train_seconds", Holds::amount},
    Column{"eval_seconds", Holds::amount},
    Column{"waited_seconds", Holds::amount},
};
// Columns of score: the task, the model, and the evaluation itself.
inline constexpr std::array kScoredColumns = {
    Column{"score_key", Holds::text, at<&journal::Scored::score_key>},
    Column{"task", Holds::text, at<&journal::Scored::task>},
    Column{"task_sha256", Holds::text, at<&journal::Scored::task_sha256>, Absent::empty},
    Column{"shots", Holds::count, at<&journal::Scored::shots>},
    Column{"documents", Holds::count, at<&journal::Scored::documents>},
    Column{"definition_sha256", Holds::text, at<&journal::Scored::definition_sha256>, Absent::empty},
    Column{"scoring_version", Holds::count, at<&journal::Scored::scoring_version>},
};
inline constexpr std::array kScoredModelColumns = {
    Column{"model_sha256", Holds::text, at<&journal::Scored::model_sha256>, Absent::empty},
    Column{"step", Holds::integer, at<&journal::Scored::step>},
};
inline constexpr std::array kScoringColumns = {
    Column{"seconds", Holds::amount, at<&journal::Scored::seconds>, Absent::null},
    Column{"cut_share", Holds::real, at<&journal::Scored::cut_share>, Absent::null},
    Column{"mean_shots", Holds::real, at<&journal::Scored::mean_shots>, Absent::null},
};
// Columns of evaluation, read into a ScoreRow: its task, and its numbers but for the value with its kind.
inline constexpr std::array kScoredTaskColumns = {
    Column{"task", Holds::text, at<&ScoreRow::task>},
    Column{"task_version", Holds::text, at<&ScoreRow::task_version>, Absent::empty},
    Column{"split", Holds::text, at<&ScoreRow::split>, Absent::empty},
    Column{"shots", Holds::count, at<&ScoreRow::shots>},
    Column{"score_key", Holds::text, at<&ScoreRow::score_key>, Absent::empty},
};
inline constexpr std::array kMetricColumns = {
    Column{"name", Holds::text, at<&ScoreRow::measure>},
    Column{"unit", Holds::text, at<&ScoreRow::unit>, Absent::empty},
    Column{"better", Holds::name, at<&ScoreRow::better>},
};
inline constexpr std::array kEvaluationColumns = {
    Column{"step", Holds::integer, at<&ScoreRow::step>},
    Column{"n", Holds::count, at<&ScoreRow::n>},
    Column{"stderr", Holds::amount, at<&ScoreRow::standard_error>, Absent::nan},
    Column{"chance", Holds::real, at<&ScoreRow::chance>, Absent::nan},
};
inline constexpr std::array kVerdictColumns = {
    Column{"check_uid", Holds::name, at<&VerdictRow::check_uid>},
    Column{"created_ms", Holds::time, at<&VerdictRow::created_ms>},
    Column{"kind", Holds::name, at<&VerdictRow::kind>},
    Column{"subject_json", Holds::json, at<&VerdictRow::subject_json>},
    Column{"rule_json", Holds::json, at<&VerdictRow::rule_json>},
    Column{"effect", Holds::real, at<&VerdictRow::effect>, Absent::null},
    Column{"ci_lo", Holds::real, at<&VerdictRow::lower>, Absent::null},
    Column{"ci_hi", Holds::real, at<&VerdictRow::upper>, Absent::null},
    Column{"applied_limit", Holds::real, at<&VerdictRow::limit>, Absent::null},
    Column{"p_raw", Holds::real, at<&VerdictRow::p_value>, Absent::null},
    Column{"p_adj", Holds::real, at<&VerdictRow::adjusted_p>, Absent::null},
    Column{"result", Holds::name, at<&VerdictRow::result>},
    Column{"words", Holds::text, at<&VerdictRow::text>},
};
inline constexpr std::array kBaselineColumns = {
    Column{"name", Holds::text, at<&BaselineRow::name>},
    Column{"variant", Holds::text, at<&BaselineRow::variant>},
    Column{"variant_hash", Holds::text, at<&BaselineRow::variant_hash>},
    Column{"measure_json", Holds::json, at<&BaselineRow::measure_json>},
    Column{"center", Holds::real, at<&BaselineRow::center>},
    Column{"lo", Holds::real, at<&BaselineRow::lowest>},
    Column{"hi", Holds::real, at<&BaselineRow::highest>},
    Column{"n", Holds::count, at<&BaselineRow::seeds>},
    Column{"source_json", Holds::json, at<&BaselineRow::source_json>},
    Column{"pinned_by", Holds::text, at<&BaselineRow::pinned_by>, Absent::empty},
    Column{"reason", Holds::text, at<&BaselineRow::reason>, Absent::empty},
    Column{"created_ms", Holds::time, at<&BaselineRow::created_ms>},
    Column{"retired_ms", Holds::time, at<&BaselineRow::retired_ms>, Absent::null},
};

// A table with all of its columns: a test compares them with the schema.
struct Table {
    const char* name;
    std::vector<Column> columns;
    std::vector<std::string> others;  // keys, references, and columns that code of their own fills
};
std::vector<Table> tables();

}  // namespace deft::results_db
