#pragma once
// Generation in Hugging Face's transformers (engine/bench/huggingface_generate.py), in a process of its own.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/bench/generate.h"
#include "sweeps/gate/python_worker.h"

namespace deft::sweeps {

// On the CPU in float32, of the model in `folder`.
class HuggingfaceWorker {
 public:
    // `python`: a program that has transformers and torch. Errors: io, where it has none or the script fails.
    HuggingfaceWorker(const std::string& python, const engine::GenerateBench& bench,
                      const std::filesystem::path& folder);

    const std::string& version() const { return version_; }  // "4.30.2, torch 1.13.0"

    // Seconds of one greedy text of that many tokens after the prompt. Errors: io.
    double run(std::int64_t tokens, long runs);
    // The tokens of the first sample in the last run.
    const std::vector<std::int32_t>& tokens() const { return tokens_; }

 private:
    PythonWorker worker_;
    std::string version_;
    std::vector<std::int32_t> tokens_;
};

}  // namespace deft::sweeps
