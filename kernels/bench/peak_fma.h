#pragma once
// The FMA peak of this machine, measured now: what a percentage of peak refers to.

#include <string>

namespace deft::kernels {

struct FmaPeak {
    double avx2_flops = 0;     // fp32 FLOP/s of 256-bit FMA on all threads
    double avx512_flops = 0;   // of 512-bit FMA, 0 where the CPU has none
    double widest() const { return avx512_flops > avx2_flops ? avx512_flops : avx2_flops; }
    std::string widest_name() const { return avx512_flops > avx2_flops ? "AVX-512" : "AVX2"; }
};

// The best of several short rounds with every thread busy; about a quarter of a second.
FmaPeak measure_fma_peak(int threads);

}  // namespace deft::kernels
