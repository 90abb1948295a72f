#pragma once
// The shape of the worker that a trial ran on: times and speeds compare only within one slot shape.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

// "2 threads", "1/2 of 1 GPU", "4 ranks on 8 GPUs".
std::string shape_text(const results_db::Shape& shape);

// ", Slurm job 12.3, 8 s in the queue"; empty for an attempt on its driver's machine.
std::string batch_text(const results_db::AttemptRow& attempt);

// Stands for a number that would be of several.
inline constexpr const char* kMixedSlots = "mixed";

// "2 threads of AMD EPYC (8 cores)", "1/2 of 1 GPU, NVIDIA H100, beside AMD EPYC (8 cores)": of every attempt that
// trained what the result was built on. Empty: unknown.
std::set<std::string> slot_shapes(const Trial& trial);
std::set<std::string> slot_shapes(const Row& row);  // of those that finished

// The same for the attempts that scored it: `find` gives a trial's score, or null.
std::set<std::string> scoring_shapes(const Row& row, const std::function<const Score*(const Trial&)>& find);

// Whether what is read off a clock says the same of both.
bool have_one_slot_shape(const Row& a, const Row& b);

// "2 threads of A; 4 threads of A".
std::string to_text(const std::set<std::string>& shapes);

// Which rows were trained on what, where that is not one and the same for all.
std::vector<std::string> slot_notes(const std::vector<Row>& rows);

}  // namespace deft::reporting
