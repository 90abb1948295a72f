#pragma once
// A Python script that measurements are interleaved with, in a process of its own: it first says what it is, then
// answers each line, with a JSON object a line.

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "base/process.h"

namespace deft::sweeps {

// Frozen except while it is asked something, so that its threads take no processor from whatever it is compared with.
class PythonWorker {
 public:
    // command: a Python, the script and its arguments. errors name task and packages: "run the PyTorch step" and
    // "torch".
    PythonWorker(const std::vector<std::string>& command, const std::string& task, const std::string& packages);

    // The worker's next unasked line. Errors: io, where the Python lacks a package, or the script fails.
    Json read_answer();
    // Errors: io, likewise.
    Json ask(const std::string& request);
    // It did not do its task, and this is why.
    Error failure(const std::string& why) const { return failure(python_, task_, packages_, why); }
    static Error failure(const std::string& python, const std::string& task, const std::string& packages,
                         const std::string& why);

 private:
    std::string python_, task_, packages_;
    PipedProcess process_;
};

}  // namespace deft::sweeps
