#pragma once
// How test_cuda_races is called.

#include "tests/cuda/children.h"

namespace deft::test {

// Empty where there is none, or where ThreadSanitizer does not run: it needs its addresses to be free, which a kernel
// with address randomization takes from it by default.
inline Command races_program() {
#ifdef DEFT_RACES_PROGRAM
    for (Command command : {Command{}, Command{"setarch", "-R"}}) {
        command.push_back(DEFT_RACES_PROGRAM);
        Command trial = command;
        trial.insert(trial.end(), {"tiny", "add_up_atomically", "all"});
        if (run_children({trial}).front().exit_code == 0) return command;
    }
#endif
    return {};
}

}  // namespace deft::test
