#pragma once
// A sweep's trials as runs of TensorBoard: a folder each, with one event file.

#include <string>
#include <vector>

#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/results.h"

namespace deft::reporting {

// Where a trial's event file goes, below the sweep's folder.
struct EventFile {
    const Trial* trial = nullptr;
    std::string folder;  // "CL[budget_fraction=0.5]/1": its name, with other characters in place of those of paths
    std::string name;    // "events.out.tfevents.1767225600.deft"
};

// The files of all trials with a logged step or a score, those of a search too. Each folder occurs once. They point
// into `sweep`.
std::vector<EventFile> event_files(const Results& sweep, const Curves& curves);

// The file's content: losses, learning rate and costs by step, scores at their step, and the trial in words. The same
// results give the same bytes. Times are those of the start, plus the training clock; of a score that of the end of its
// evaluation.
std::string event_file_bytes(const Trial& trial, const results_db::TrialCurve& curve);

}  // namespace deft::reporting
