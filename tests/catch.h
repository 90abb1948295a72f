#pragma once
// Catch2, version 2 (Debian 12) or 3 (Ubuntu 24.04, Debian 13), through one header.

#ifdef DEFT_CATCH2_V3
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& text) {
    return Catch::Matchers::Contains(text);
}
#endif

#include <cstdio>

// Leaves the test as skipped, with the reason; ctest counts and names it.
#define DEFT_SKIP(reason)                               \
    do {                                                \
        std::printf("deft test skipped: %s\n", reason); \
        return;                                         \
    } while (false)
