#pragma once
// A check of an option's integer that has a least value and no greatest one: CLI11's own name the largest double, in
// all of its digits.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>

namespace deft::cli {

inline CLI::Validator at_least(std::int64_t least) {
    const auto problem = [least](std::string& text) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc() && end == text.data() + text.size();
        return whole && value >= least ? std::string() : fmt::format("{} is no integer of at least {}", text, least);
    };
    return {problem, fmt::format("INT >= {}", least)};
}

}  // namespace deft::cli
