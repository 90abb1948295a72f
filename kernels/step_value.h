#pragma once
// Values that change from one training step to the next. A launch that is recorded once and started in every step reads
// them from memory; by value it would repeat those of the step that it was recorded in.

#include "kernels/device.h"

namespace deft::kernels {

template <class Value>
struct StepValue {
    Value given = {};
    const Value* memory = nullptr;  // of the kernel's backend, read when the kernel runs; null: the value is `given`

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
