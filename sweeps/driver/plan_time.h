#pragma once
// Hours and dollars of a plan's rows, beside those that a paper published: one share of the peak, stated or fitted on
// one row.

#include "sweeps/driver/plan.h"

namespace deft::sweeps {

// For a plan that has its rows and a device. Errors: config, for a damaged table of published numbers.
void add_times(const Spec& spec, Plan& plan);

// Why times of that table say nothing of these devices; empty: they do.
std::string other_hardware(const reporting::PublishedTable& table, const experiments::DeviceUse& use);

}  // namespace deft::sweeps
