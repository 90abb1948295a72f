#pragma once
// A process that measurements are interleaved with: it first says what it is, then answers each line, with a JSON
// object a line.

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/process.h"

namespace deft::sweeps {

struct WorkerProgram {
    std::vector<std::string> argv;
    std::string cannot;     // for errors, who could not do what: "python3 could not run the PyTorch step"
    std::string help;       // how to fix that
    bool is_frozen = true;  // except while it is asked, so that its threads take no processor from the others
    std::vector<std::string> environment = {};
};

class LineWorker {
 public:
    // Returns once it has said what it is. Errors of all: io, where it ends, or an answer has not what is asked for.
    explicit LineWorker(WorkerProgram program);
    // One that is not frozen ends by itself: mpirun ends its ranks where it is asked to, and leaves them where it is
    // killed.
    ~LineWorker();
    LineWorker(const LineWorker&) = delete;
    LineWorker& operator=(const LineWorker&) = delete;

    // A part of what it said first.
    template <class Value>
    Value said(const char* name) const {
        return part<Value>(hello_, name);
    }

    // Asks for `what`, that many times in a row; returns seconds of one.
    double run(const std::string& what, long times);
    // The same as a contestant's run, while this lives.
    std::function<double(long)> runs(std::string what);
    // The same in two calls, so that several workers can run at the same time.
    void begin(const std::string& what, long times);
    double seconds();

    // Its answer to a line. `part`: one of an answer's values.
    Json ask(const std::string& request);
    template <class Value>
    Value part(const Json& answer, const char* name) const {
        try {
            return answer.at(name).get<Value>();
        } catch (const Json::exception& wrong) {
            throw failure(wrong.what());
        }
    }

 private:
    void send(const std::string& request);
    Json read_answer();
    Error failure(const std::string& why) const;

    WorkerProgram program_;
    PipedProcess process_;
    Json hello_;
};

}  // namespace deft::sweeps
