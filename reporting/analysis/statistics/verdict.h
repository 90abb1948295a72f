#pragma once
// The conclusion of a comparison of a head with its base, and the direction in which a measure improves.

#include <string_view>

namespace deft::reporting {

enum class Verdict { better, same, worse, unclear };

// As the database spells it: "better", "same", "worse", "unclear".
constexpr const char* name(Verdict verdict) {
    switch (verdict) {
        case Verdict::better:
            return "better";
        case Verdict::same:
            return "same";
        case Verdict::worse:
            return "worse";
        case Verdict::unclear:
            break;
    }
    return "unclear";
}

enum class Improves { downwards, upwards };  // times and losses; scores and rates

// `better`: lower | higher, as scores and published columns state it.
inline Improves improves_where(std::string_view better) {
    return better == "higher" ? Improves::upwards : Improves::downwards;
}

// Both ends count as inside.
struct Interval {
    double low = 0, high = 0;
};

}  // namespace deft::reporting
