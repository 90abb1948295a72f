#include "reporting/cost/comparable_seconds.h"

#include "reporting/cost/held_up.h"
#include "reporting/cost/slot_shapes.h"

namespace deft::reporting {

SecondsCompare seconds_compare(const Variant& row, const Variant& reference) {
    if (!have_one_slot_shape(row, reference)) return SecondsCompare::other_slot;
    return were_held_up_alike(row, reference) ? SecondsCompare::yes : SecondsCompare::held_up;
}

std::string to_text(SecondsCompare compare) {
    switch (compare) {
        case SecondsCompare::other_slot:
            return "other slot";
        case SecondsCompare::held_up:
            return "held up";
        case SecondsCompare::yes:
            break;
    }
    return {};
}

}  // namespace deft::reporting
