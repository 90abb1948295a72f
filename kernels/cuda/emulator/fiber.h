#pragma once
// Fibers on x86-64: a stack each, and a switch that saves what the System V ABI makes a call preserve.

#include <cstddef>
#include <vector>

#include "kernels/cuda/emulator/mapping.h"

namespace deft::kernels::cuda::emulator {

// A place of execution that another one can switch to.
struct Context {
    void* stack_pointer = nullptr;
    // For the sanitizers.
    const void* stack = nullptr;
    std::size_t stack_bytes = 0;
    void* fake_stack = nullptr;  // ASan's
    void* tsan_fiber = nullptr;
};

// Leaves `from`, to come back when something switches to it.
void switch_context(Context& from, Context& to);
// The same at the end of `from`.
[[noreturn]] void leave_context(Context& from, Context& to);
// The first call in a new context; `from` is the one that switched to it.
void enter_context(Context& from);

// Stacks, each with a thread of ThreadSanitizer's, made when first used.
class FiberPool {
 public:
    FiberPool() = default;
    ~FiberPool();
    FiberPool(const FiberPool&) = delete;
    FiberPool& operator=(const FiberPool&) = delete;
    // A context on fiber i that starts at entry(), which must not return.
    Context start(std::size_t i, void (*entry)());

 private:
    struct Fiber {
        Mapping stack;
        void* tsan_fiber;
    };
    std::vector<Fiber> fibers_;
};

}  // namespace deft::kernels::cuda::emulator
