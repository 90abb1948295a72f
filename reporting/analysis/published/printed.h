#pragma once
// Numbers as papers print them.

#include <string>

#include "base/error.h"

namespace deft::reporting {

// A number known only as it was printed: the true value lies in [value - half_unit, value + half_unit).
struct PrintedNumber {
    std::string text;
    double value = 0;
    double half_unit = 0;  // half a unit of the last printed place

    int places() const;  // after the point
};

// "43.6" means [43.55, 43.65). Errors: config, for text that is not a plain decimal number.
PrintedNumber parse_printed(const std::string& text, const Place& place);

}  // namespace deft::reporting
