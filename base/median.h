#pragma once

#include <algorithm>
#include <vector>

namespace deft {

// The middle of the sorted values, of which there must be one at least; between the two in the middle of an even
// number.
inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace deft
