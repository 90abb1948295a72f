#include "sweeps/driver/late_journals.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sweeps/driver/recovery.h"

namespace deft::sweeps {

namespace {

constexpr double kLookSeconds = 0.5;  // between two looks at a late journal

}  // namespace

bool may_be_late(const ChildEnd& end, const JournalSummary& journal) {
    if (journal.is_shorter) return true;
    if (journal.damage || journal.ended || !WIFEXITED(end.wait_status) || end.batch_end == BatchEnd::node_failure)
        return false;
    const int code = WEXITSTATUS(end.wait_status);
    return code == kExitOk || code == kExitWorkLeft;
}

bool LateJournals::any_of(const std::function<bool(const Child&)>& is_meant) const {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return is_meant(one.ended.child); });
}

std::vector<SettledChild> LateJournals::take_settled(results_db::Writer& writer, double patience_seconds,
                                                     Progress& progress) {
    std::vector<SettledChild> settled;
    std::erase_if(waiting_, [&](Waiting& one) {
        const Child& child = one.ended.child;
        const double waited = seconds_since(one.ended.seen);
        if (one.was_reported && seconds_since(one.looked) < kLookSeconds && waited < patience_seconds) return false;
        JournalSummary journal = ingest_rest(writer, child.attempt, child.journal());
        one.looked = Clock::now();
        if (may_be_late(one.ended.end, journal) && waited < patience_seconds) {
            if (!std::exchange(one.was_reported, true))
                progress.event(fmt::format("waiting for the journal of {}, which ended; at most {:.0f} s", child.name,
                                           patience_seconds));
            return false;
        }
        settled.push_back({child, one.ended.end, std::move(journal)});
        return true;
    });
    return settled;
}

}  // namespace deft::sweeps
