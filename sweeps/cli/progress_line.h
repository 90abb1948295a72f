#pragma once
// One line on standard error that says how far a command is: repainted on a terminal, absent elsewhere.

#include <string>

namespace deft::cli {

class ProgressLine {
 public:
    ProgressLine();
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // fraction: of 1; negative where nobody knows.
    void show(const std::string& what, double fraction);
    void clear();

 private:
    int width_;  // 0: no terminal
    bool painted_ = false;
    long long last_ms_ = -1;
};

}  // namespace deft::cli
