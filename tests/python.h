#pragma once
// The Python that tests compare with, where there is one.

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process.h"

namespace deft::test {

// DEFT_PYTHON, or python3.
inline std::string python() {
    const char* named = std::getenv("DEFT_PYTHON");
    return named == nullptr ? "python3" : named;
}

// Runs it. Exit code 77, with which our scripts say that a package is missing, also without Python.
inline ProcessOutput run_python(std::vector<std::string> arguments, const std::string& program = python()) {
    arguments.insert(arguments.begin(), program);
    try {
        return run_process(arguments);
    } catch (const Error& error) {
        ProcessOutput output;
        output.exit_code = 77;
        output.out = error.what();
        return output;
    }
}

// Whether there is one that scripts without packages can be run with.
inline bool has_python() {
    return run_python({"-c", ""}, "python3").exit_code == 0;
}

}  // namespace deft::test
