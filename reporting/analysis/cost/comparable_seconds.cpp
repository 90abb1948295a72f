#include "reporting/analysis/cost/comparable_seconds.h"

#include "reporting/analysis/cost/cpu_contention.h"
#include "reporting/analysis/cost/slot_shapes.h"

namespace deft::reporting {

SecondsCompare seconds_compare(const Row& row, const Row& reference) {
    if (!have_one_slot_shape(row, reference)) return SecondsCompare::other_slot;
    return have_equal_contention(row, reference) ? SecondsCompare::yes : SecondsCompare::contention;
}

std::string to_text(SecondsCompare compare) {
    switch (compare) {
        case SecondsCompare::other_slot:
            return "other worker";
        case SecondsCompare::contention:
            return "contention";
        case SecondsCompare::yes:
            break;
    }
    return {};
}

}  // namespace deft::reporting
