#include "sweeps/gate/competitors.h"

namespace deft::sweeps {

namespace {

// Computes until its parent has ended.
constexpr const char* kLoop =
    "while kill -0 $PPID 2>/dev/null; do n=0; while [ $n -lt 100000 ]; do n=$((n+1)); done; done";

}  // namespace

Competitors::Competitors(int count) {
    for (int i = 0; i < count; ++i)
        processes_.push_back(std::make_unique<PipedProcess>(std::vector<std::string>{"sh", "-c", kLoop}));
    freeze();
}

void Competitors::freeze() const {
    for (const auto& process : processes_) process->freeze();
}

void Competitors::thaw() const {
    for (const auto& process : processes_) process->thaw();
}

}  // namespace deft::sweeps
