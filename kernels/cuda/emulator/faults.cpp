#include "kernels/cuda/emulator/faults.h"

#include <ucontext.h>

#include <cstdint>

#include "kernels/cuda/emulator/block.h"

namespace deft::kernels::cuda::emulator {

namespace {

struct Fault {
    std::uintptr_t address;
    bool is_write;
};
Fault fault;  // the newest: the handler has no other way to the code that it returns to

// Where a faulting thread goes on: on its own stack, and never back.
void landing() {
    running_block()->stop_at_fault(fault.address, fault.is_write);
}

void handle_fault(int, siginfo_t* info, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto stack_pointer = static_cast<std::uintptr_t>(registers[REG_RSP]);
    if (running_block() == nullptr || !running_block()->runs_on(stack_pointer)) {
        signal(SIGSEGV, SIG_DFL);  // the access is made again, and ends the program
        return;
    }
    constexpr greg_t kOfWrite = 2;  // Intel SDM 3A 4.7: page-fault error code, W/R
    fault = {reinterpret_cast<std::uintptr_t>(info->si_addr), (registers[REG_ERR] & kOfWrite) != 0};
    // As if `landing` had been called below the frame that faulted and its red zone.
    constexpr std::uintptr_t kRedZone = 128;
    registers[REG_RSP] = static_cast<greg_t>((stack_pointer - kRedZone) / 16 * 16 - 8);
    registers[REG_RIP] = reinterpret_cast<greg_t>(&landing);
}

}  // namespace

FaultTrap::FaultTrap() {
    struct sigaction action {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
}

FaultTrap::~FaultTrap() {
    sigaction(SIGSEGV, &before_, nullptr);
}

}  // namespace deft::kernels::cuda::emulator
