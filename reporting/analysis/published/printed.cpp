#include "reporting/analysis/published/printed.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace deft::reporting {

int PrintedNumber::places() const {
    const std::size_t point = text.find('.');
    return point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

PrintedNumber parse_printed(const std::string& text, const Place& place) {
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    const std::size_t point = text.find('.');
    const std::string digits = text.substr(first, point - first);
    const std::string decimals = point == std::string::npos ? "" : text.substr(point + 1);
    const auto all_digits = [](const std::string& part) {
        return !part.empty() && part.size() <= 15 && part.find_first_not_of("0123456789") == std::string::npos;
    };
    if (!all_digits(digits) || (point != std::string::npos && !all_digits(decimals)))
        throw Error(ErrorKind::config, place, fmt::format("'{}' is not a number as papers print them", text),
                    "write it as in \"43.6\"");
    return {text, std::strtod(text.c_str(), nullptr), 0.5 * std::pow(10.0, -static_cast<double>(decimals.size()))};
}

}  // namespace deft::reporting
