#include "results_db/cost_parts.h"

#include <algorithm>

namespace deft::results_db {

namespace {

// Steps between which a clock in milliseconds sees no difference.
constexpr double kNothing = 2e-3;

double left_of(const std::optional<double>& held, double known) {
    return held ? std::max(0.0, *held - known) : 0;
}

// Nothing is lost: what is left of the time was needed for it.
CostParts whole_of(const AttemptTime& time) {
    CostParts parts{time.training, time.scoring, 0, time.waiting.value_or(0), 0};
    parts.start_up = left_of(time.held, parts.whole());
    return parts;
}

// Up to what was on the disk; what is left of the time is lost.
CostParts up_to(const AttemptTime& time, const Spent& kept) {
    CostParts parts{kept.training, kept.scoring, 0, kept.waiting, 0};
    parts.start_up = std::max(0.0, kept.elapsed - parts.whole());
    parts.lost = time.held ? left_of(time.held, parts.whole()) : std::max(0.0, time.training - kept.training);
    return parts;
}

// Other needs of the kept work were not recorded; they count as lost with the rest.
CostParts without_record(const AttemptTime& time) {
    CostParts parts;
    parts.training = time.is_scoring ? 0 : std::max(0.0, time.training - time.behind_kept);
    parts.scoring = time.is_scoring ? time.scoring : 0;
    parts.lost = time.held ? left_of(time.held, parts.whole()) : time.training - parts.training;
    return parts;
}

}  // namespace

void CostParts::add(const CostParts& other, double times) {
    training += times * other.training;
    scoring += times * other.scoring;
    start_up += times * other.start_up;
    waiting += times * other.waiting;
    lost += times * other.lost;
}

CostParts parts_of(const AttemptTime& time) {
    if (!time.is_kept) return {0, 0, 0, 0, time.held.value_or(time.training + time.scoring)};
    const bool is_last_word = time.is_ok && !time.is_continued;
    // One that was stopped has saved what it did.
    const bool saved_all = time.records_its_end && !time.is_scoring && time.behind_kept == 0 &&
                           (!time.kept || time.training - time.kept->training < kNothing);
    if (is_last_word || saved_all) return whole_of(time);
    return time.kept ? up_to(time, *time.kept) : without_record(time);
}

}  // namespace deft::results_db
