#pragma once
// A process that measurements are interleaved with. It first describes itself, then answers each line with one line of
// JSON.

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
    // Returns when the process has described itself. Errors of all members: io, when it ends or an answer lacks a
    // value.
    explicit LineWorker(WorkerProgram program);
    // A worker that is not frozen ends by itself: a killed mpirun would leave its ranks running.
    ~LineWorker();
    LineWorker(const LineWorker&) = delete;
    LineWorker& operator=(const LineWorker&) = delete;

    // A value of its description.
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
