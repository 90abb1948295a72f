#pragma once
// Checks the error that an action throws.

#include <functional>
#include <string>

#include "base/error.h"
#include "tests/catch.h"

namespace deft::test {

// The message of the error that `action` throws, which must be of that kind and say this; "accepted" where it throws
// none.
inline std::string refusal(ErrorKind kind, const std::function<void()>& action, const std::string& says = "") {
    try {
        action();
    } catch (const Error& error) {
        INFO(error.what());
        CHECK(error.kind() == kind);
        CHECK_THAT(error.what(), ContainsSubstring(says));
        return error.what();
    }
    return "accepted";
}

// Errors of kind config.
inline std::string refusal(const std::function<void()>& action, const std::string& says = "") {
    return refusal(ErrorKind::config, action, says);
}

}  // namespace deft::test
