#pragma once
// One column of a comparison, and how a row fills it.

#include <functional>
#include <utility>

#include "reporting/table.h"
#include "reporting/variants.h"

namespace deft::reporting {

struct Field {
    Column column;
    std::function<Cell(const Variant&)> cell;

    Field(Column head, std::function<Cell(const Variant&)> fill) : column(std::move(head)), cell(std::move(fill)) {}
};

}  // namespace deft::reporting
