#pragma once
// The named functions that a template may pass a field through, as in {ctx|hellaswag_restore}. A new one is a function
// and a line of the table.

#include <string>
#include <string_view>
#include <vector>

namespace deft::experiments {

struct Filter {
    const char* name;
    std::string (*apply)(std::string_view text);
};

// Null where no filter has that name.
const Filter* find_filter(std::string_view name);
std::vector<std::string> filter_names();

}  // namespace deft::experiments
