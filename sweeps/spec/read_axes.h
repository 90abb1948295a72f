#pragma once
// The axes of a sweep file: values that multiply its recipes (grid), values that go together (zip), and points that are
// listed (list).

#include <string>
#include <utility>
#include <vector>

#include "base/config.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// The axes of a sweep without stages: [axes.grid], [[axes.zip]] and [[axes.list]]. Those of a grid first, then the
// tables of zip, then the list, whose points go together; the first is the slowest. `zip = []` and `list = []` are
// none. Errors: config, with the place: an axis that is given twice or has no values, a zip of unequal lengths, points
// of a list that do not have the same keys, places of a zip or points of a list that say the same.
std::vector<Axis> read_axes(const ConfigNode& axes);

// The axes of a stage: paths and their values, which are its grid and may be in [stage.NAME.axes.grid] too, and
// [[stage.NAME.axes.zip]] and [[stage.NAME.axes.list]].
// `name`: "stage.NAME.axes". Errors: as above.
std::vector<Axis> read_stage_axes(const ConfigNode& axes, const std::string& name);

// Gives the axis `path`, where there is one, `value` alone. An axis of a grid need not have had it. Of an axis that
// goes together with others only the places that have this value are kept, in all of them. Errors: config, where none
// of these places has it.
void pin(std::vector<Axis>& axes, const std::string& path, const ConfigNode& value);

// Paths with their values: quoted paths and nested tables are equal, "train.batch_size" = x and
// train.batch_size = x.
void flatten(const ConfigNode& table, const std::string& prefix,
             std::vector<std::pair<std::string, const ConfigNode*>>& out);

}  // namespace deft::sweeps
