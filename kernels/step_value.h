#pragma once
// Values that change from one training step to the next. A recorded launch reads them from memory: a value that it was
// given would stay that of the step in which it was recorded.

#include "kernels/device.h"

namespace deft::kernels {

template <class Value>
struct StepValue {
    Value given = {};
    const Value* memory = nullptr;  // read when the kernel runs, on its backend; null: the value is `given`

    StepValue() = default;
    StepValue(Value value) : given(value) {}
    static StepValue in(const Value* memory) {
        StepValue value;
        value.memory = memory;
        return value;
    }

    // Called by kernels alone: the memory may be a device's.
    DEFT_HOST_DEVICE Value get() const { return memory == nullptr ? given : *memory; }
};

}  // namespace deft::kernels
