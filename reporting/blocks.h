#pragma once
// A wide table's columns in groups, each led by the columns that tell rows apart.

#include <cstddef>
#include <vector>

#include "reporting/table.h"

namespace deft::reporting {

using Block = std::vector<std::size_t>;  // columns

// One block up to each column that begins one, however wide.
std::vector<Block> page_blocks(const Table& table);

// As many columns a block as fit `width`; all in one where it is 0 or they fit. Columns: `widths`, `gap` between them.
// A published column stands beside the measured one left of it, never in the next block.
std::vector<Block> fitting_blocks(const Table& table, const std::vector<int>& widths, int gap, int width);

}  // namespace deft::reporting
