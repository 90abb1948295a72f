#pragma once
// What an action's refusal says.

#include <string>

#include "base/error.h"
#include "tests/catch.h"

namespace deft::test {

// The message of the configuration error that the action throws; empty where it throws none.
template <class Action>
std::string message_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::config);
        return error.what();
    }
    return "";
}

}  // namespace deft::test
