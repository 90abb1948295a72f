#pragma once
// A text that is a whole corpus, divided by the shares of [data] split: each share is a document.

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "experiments/datasets/corpus_source.h"

namespace deft::experiments {

class SplitText {
 public:
    // Reads the file once or twice, for where its shares end: after a line, or between characters where no line ends
    // later. data.max_bytes cuts the text before. Errors: io.
    SplitText(const std::filesystem::path& file, const DataConfig& data);

    // Takes the next bytes of the text and gives each share's part of them. False where `take` wants no more.
    bool give(std::string_view text, const std::function<bool(const DocumentPart&)>& take);

 private:
    std::array<std::int64_t, 4> border_{};  // of training, validation and test text: [border_[i], border_[i + 1])
    std::int64_t given_ = 0;
};

}  // namespace deft::experiments
