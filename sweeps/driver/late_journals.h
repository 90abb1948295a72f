#pragma once
// Ended trials whose journals do not yet say how they ended: a network file system may show a file's last bytes long
// after its writer has closed it.

#include <functional>
#include <vector>

#include "results_db/writer.h"
#include "sweeps/driver/children.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/run_folder.h"

namespace deft::sweeps {

// Whether the rest of the journal may still arrive: it is shorter than what was read of it before, or does not say how
// its process ended, which says by its exit code that the journal does.
bool may_be_late(const ChildEnd& end, const JournalSummary& journal);

struct SettledChild {
    Child child;
    ChildEnd end;
    JournalSummary journal;
};

class LateJournals {
 public:
    void add(EndedChild ended) { waiting_.push_back({std::move(ended), {}, false}); }
    bool empty() const { return waiting_.empty(); }
    bool any_of(const std::function<bool(const Child&)>& is_meant) const;

    // Takes in what has arrived, and returns the trials whose journals are whole or were awaited for that many seconds.
    std::vector<SettledChild> take_settled(results_db::Writer& writer, double patience_seconds, Progress& progress);

 private:
    struct Waiting {
        EndedChild ended;
        Clock::time_point looked;
        bool was_reported = false;
    };
    std::vector<Waiting> waiting_;
};

}  // namespace deft::sweeps
