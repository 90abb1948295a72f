#pragma once
// The axes of a sweep file: values that multiply its cases (grid), values that go together (zip), and points that are
// listed (list).

#include <string>
#include <utility>
#include <vector>

#include "base/config.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// Of a sweep without stages: [axes.grid], [[axes.zip]] and [[axes.list]]. Those of a grid first, then the tables of
// zip, then the list, whose points go together; the first is the slowest. Errors: config, with the place: an axis that
// is given twice or has no values, a zip of unequal lengths, points of a list that do not have the same keys or that
// say the same.
std::vector<Axis> read_axes(const ConfigNode& axes);

// Of a stage: paths and their values, which are its grid, and [[stage.NAME.axes.zip]] and [[stage.NAME.axes.list]].
// `name`: "stage.NAME.axes". Errors: as above.
std::vector<Axis> read_stage_axes(const ConfigNode& axes, const std::string& name);

// Keeps of an axis one value: of a grid's any, of an axis that goes together with others one that it has, with the
// places of the others that go with it. Errors: config, for a value that such an axis never has.
void pin(std::vector<Axis>& axes, const std::string& path, const ConfigNode& value);

// Paths with what stands under them: quoted paths and nested tables say the same, "train.batch_size" = x and
// train.batch_size = x.
void flatten(const ConfigNode& table, const std::string& prefix,
             std::vector<std::pair<std::string, const ConfigNode*>>& out);

}  // namespace deft::sweeps
