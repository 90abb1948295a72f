#pragma once
// Streams of the emulated device: their launches run at once, or are recorded for a graph (kernels/cuda/graph.h).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/exec.h"

namespace deft::kernels::cuda {
class Graph;
}

namespace deft::kernels::cuda::emulator {

// A kernel, a product of the library, a copy or a fill.
struct Launch {
    std::string name;
    std::int64_t blocks = 0;
    int threads = 0;
    std::size_t shared_bytes = 0;
    std::vector<std::vector<std::byte>> arguments;
    std::function<void()> run;
};

template <class Argument>
std::vector<std::byte> bytes_of(Argument argument) {
    if constexpr (!std::is_scalar_v<Argument>) __builtin_clear_padding(&argument);
    std::vector<std::byte> bytes(sizeof argument);
    std::memcpy(bytes.data(), &argument, sizeof argument);
    return bytes;
}

// The launches that the stream is recording, or null: it runs them.
std::vector<Launch>* recorded(void* stream);
// Runs it, or adds it to what is recorded.
void submit(void* stream, Launch launch);
// Errors: device, naming `what`, while the stream records.
void refuse_while_recording(void* stream, const char* what);

void* new_stream();
void delete_stream(void* stream);

const std::vector<Launch>& launches_of(const Graph& graph);
// The first launch of two recordings whose kernel, shape or arguments differ, as in "launch 7, adamw_step: argument 9";
// nothing where all are equal.
std::optional<std::string> first_difference(const std::vector<Launch>& left, const std::vector<Launch>& right);

}  // namespace deft::kernels::cuda::emulator
