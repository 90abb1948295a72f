#include "engine/core/workspace.h"

#include <algorithm>

#include "kernels/cpu/cpu.h"
#include "kernels/cuda/cuda.h"

namespace deft::engine {

namespace {

bool is_gpu(const Backend& backend) {
    return backend.device != Device::cpu;
}

}  // namespace

std::size_t embedding_workspace(const Backend& backend, std::int64_t B, std::int64_t T, std::int64_t C) {
    return is_gpu(backend) ? kernels::cuda::embedding_backward_workspace(B, T, C) : 0;
}

std::size_t norm_workspace(const Backend& backend, std::int64_t rows, std::int64_t C) {
    return is_gpu(backend) ? kernels::cuda::norm_backward_workspace(rows, C)
                           : kernels::cpu::norm_backward_workspace(rows, C);
}

std::size_t linear_workspace(const Backend& backend, std::int64_t rows, std::int64_t in, std::int64_t out) {
    return is_gpu(backend) ? kernels::cuda::linear_backward_weight_workspace(rows, in, out)
                           : kernels::cpu::linear_backward_weight_workspace(backend.threads, rows, in, out);
}

std::size_t attention_workspace(const Backend& backend, std::int64_t B, std::int64_t T, std::int64_t heads,
                                std::int64_t head_size) {
    if (is_gpu(backend)) return kernels::cuda::attention_backward_workspace(B, T, heads);
    return std::max(kernels::cpu::attention_forward_workspace(backend.threads, T, head_size),
                    kernels::cpu::attention_backward_workspace(backend.threads, T, head_size));
}

std::int64_t vocabulary_rows(const Backend& backend, std::int64_t V) {
    return is_gpu(backend) ? kernels::cuda::padded_vocabulary(V) : V;
}

std::size_t head_workspace(const Backend& backend, std::int64_t rows, std::int64_t C, std::int64_t V) {
    return is_gpu(backend) ? kernels::cuda::head_loss_workspace(rows, C, V)
                           : kernels::cpu::head_loss_workspace(rows, C, V);
}

std::size_t experts_workspace(const Backend& backend, std::int64_t rows, std::int64_t E, std::int64_t k, std::int64_t C,
                              std::int64_t before, std::int64_t hidden) {
    if (is_gpu(backend))
        return std::max(kernels::cuda::gate_losses_workspace(rows, E),
                        kernels::cuda::gate_backward_weight_workspace(rows, C, std::max<std::int64_t>(E, 2)));
    const int threads = backend.threads;
    return std::max({kernels::cpu::place_choices_workspace(rows, E, k), kernels::cpu::gate_losses_workspace(rows, E),
                     kernels::cpu::gate_backward_weight_workspace(threads, rows, C, E),
                     kernels::cpu::grouped_linear_workspace(threads, rows * k, E, C, before),
                     kernels::cpu::grouped_linear_workspace(threads, rows * k, E, hidden, C)});
}

std::size_t select_tokens_workspace(const Backend& backend, std::int64_t T) {
    return is_gpu(backend) ? 0 : kernels::cpu::select_kept_tokens_workspace(backend.threads, T);
}

std::size_t sum_of_squares_workspace(const Backend& backend, std::int64_t elements) {
    return is_gpu(backend) ? kernels::cuda::sum_of_squares_workspace(elements)
                           : kernels::cpu::sum_of_squares_workspace(elements);
}

}  // namespace deft::engine
