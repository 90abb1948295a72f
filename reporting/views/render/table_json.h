#pragma once
// A table as JSON.

#include "reporting/ordered_json.h"
#include "reporting/table.h"

namespace deft::reporting {

OrderedJson table_json(const Table& table);

}  // namespace deft::reporting
