#pragma once
// Names of an enumeration's values: one table per enumeration, which reads, writes and lists them.

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace deft {

template <class Enum>
struct EnumName {
    Enum value;
    const char* name;
};

// The table, defined once per enumeration; its order is that of lists of names:
//   template <>
//   struct EnumNames<Speed> {
//       static constexpr EnumName<Speed> all[] = {{Speed::fast, "fast"}, {Speed::slow, "slow"}};
//   };
template <class Enum>
struct EnumNames;

template <class Enum>
constexpr bool has_name(Enum value) {
    for (const EnumName<Enum>& known : EnumNames<Enum>::all)
        if (known.value == value) return true;
    return false;
}

// Errors: std::logic_error, for a value without a name.
template <class Enum>
constexpr const char* name_of(Enum value) {
    for (const EnumName<Enum>& known : EnumNames<Enum>::all)
        if (known.value == value) return known.name;
    throw std::logic_error("a value of an enumeration has no name");
}

// Nothing for a name that no value has.
template <class Enum>
constexpr std::optional<Enum> value_named(std::string_view name) {
    for (const EnumName<Enum>& known : EnumNames<Enum>::all)
        if (known.name == name) return known.value;
    return {};
}

template <class Enum>
std::vector<std::string> names_of() {
    std::vector<std::string> names;
    for (const EnumName<Enum>& known : EnumNames<Enum>::all) names.emplace_back(known.name);
    return names;
}

}  // namespace deft
