#pragma once
// How the rows of a sweep are drawn: colour and marker tell the case, the dash what else tells rows apart.

#include <map>
#include <string>
#include <vector>

#include "reporting/figure.h"
#include "reporting/variants.h"

namespace deft::reporting {

// "cl 50% layers=2".
std::string series_name(const Variant& variant);

// By the case's place in the sweep, so that it looks alike in every figure, whatever the others leave out.
class CaseStyles {
 public:
    explicit CaseStyles(const std::vector<Variant>& variants);
    void give(const Variant& variant, Series& series) const;

 private:
    std::map<std::string, std::size_t> of_case_, of_axes_;
};

}  // namespace deft::reporting
