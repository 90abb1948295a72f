#pragma once
// The tables of engine/io/weight_names.h: the name and layout of every weight per family of names.

#include <vector>

#include "engine/io/weight_names.h"

namespace deft::engine {

// In both names # is a layer's number and * is weight or bias; in theirs @ is an expert's number, where each expert has
// a tensor of its own. Several foreign names share the rows of one weight, in that order.
struct NameRow {
    const char* ours;
    std::vector<const char*> theirs;
    StoredAs as = StoredAs::rows;
};

struct NameTable {
    const char* family;
    const char* prefix;  // which files of a model without a head lack
    std::vector<NameRow> rows;
    std::vector<const char*> of_tied_head;  // where a head that is tied to the tokens' table may be stored once more
    std::vector<const char*> no_weights;    // ends of names
    std::vector<const char*> heads;         // beginnings of names, after the prefix
};

// The tables of `own` and `plain` have no rows: a rule derives their names from ours.
const NameTable& name_table(WeightNames names);

}  // namespace deft::engine
