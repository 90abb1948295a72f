#include "kernels/cuda/emulator/fiber.h"

#include <cstdint>

#include "kernels/cuda/emulator/sanitizers.h"

#if !defined(__x86_64__)
#error "the kernel emulator switches stacks on x86-64 only"
#endif

// void deft_switch_stack(void** save, void* to): callee-saved registers and the floating-point modes stay on the stack
// that is left.
asm(R"(
.text
.globl deft_switch_stack
.type deft_switch_stack, @function
deft_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size deft_switch_stack, .-deft_switch_stack
)");
extern "C" void deft_switch_stack(void** save, void* to);

namespace deft::kernels::cuda::emulator {

namespace {

constexpr std::size_t kStack = 256 << 10;  // room for a sanitizer's report; untouched pages cost nothing

// The floating-point modes as deft_switch_stack leaves them on a stack.
std::uint64_t floating_point_modes() {
    std::uint32_t mxcsr;
    std::uint16_t x87;
    asm volatile("stmxcsr %0" : "=m"(mxcsr));
    asm volatile("fnstcw %0" : "=m"(x87));
    return mxcsr | std::uint64_t{x87} << 32;
}

}  // namespace

void switch_context(Context& from, Context& to) {
    asan::start_switch(&from.fake_stack, to.stack, to.stack_bytes);
    tsan::switch_to(to.tsan_fiber);
    deft_switch_stack(&from.stack_pointer, to.stack_pointer);
    asan::finish_switch(from.fake_stack, nullptr, nullptr);
}

void leave_context(Context& from, Context& to) {
    asan::start_switch(nullptr, to.stack, to.stack_bytes);
    tsan::switch_to(to.tsan_fiber);
    deft_switch_stack(&from.stack_pointer, to.stack_pointer);
    __builtin_unreachable();
}

void enter_context(Context& from) {
    asan::finish_switch(nullptr, &from.stack, &from.stack_bytes);
}

FiberPool::~FiberPool() {
    for (const Fiber& fiber : fibers_) tsan::destroy_fiber(fiber.tsan_fiber);
}

Context FiberPool::start(std::size_t i, void (*entry)()) {
    while (fibers_.size() <= i) {
        fibers_.push_back({Mapping(kPage + kStack), tsan::create_fiber()});
        fibers_.back().stack.forbid(0, kPage);  // an overflow stops there
        // The memory may have been a stack before, of a thread that was dropped in the middle.
        asan::unpoison(fibers_.back().stack.data(), kPage + kStack);
    }
    std::byte* const stack = fibers_[i].stack.data() + kPage;
    auto* top = reinterpret_cast<std::uint64_t*>(stack + kStack);
    *--top = 0;  // the return address of entry, which so finds its stack aligned as after a call
    *--top = reinterpret_cast<std::uint64_t>(entry);
    for (int saved_register = 0; saved_register < 6; ++saved_register) *--top = 0;
    *--top = floating_point_modes();
    return {.stack_pointer = top, .stack = stack, .stack_bytes = kStack, .tsan_fiber = fibers_[i].tsan_fiber};
}

}  // namespace deft::kernels::cuda::emulator
