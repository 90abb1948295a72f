#include "experiments/datasets/split_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "experiments/datasets/file_reader.h"

namespace deft::experiments {

namespace {

constexpr Split kSplits[] = {Split::train, Split::valid, Split::test};

// Calls visit(first byte, bytes) for the text of a file, without its byte order mark, until it returns false.
void for_each_part(const std::filesystem::path& file, std::int64_t most_bytes,
                   const std::function<bool(std::int64_t, std::string_view)>& visit) {
    SourceFile source;
    source.path = file;
    FileReader reader(source, most_bytes);
    DocumentPart part;
    for (std::int64_t at = 0; reader.next(part); at += static_cast<std::int64_t>(part.text.size()))
        if (!visit(at, part.text)) return;
}

std::int64_t text_bytes(const std::filesystem::path& file, std::int64_t most) {
    std::int64_t bytes = 0;
    for_each_part(file, most, [&](std::int64_t at, std::string_view text) {
        bytes = at + static_cast<std::int64_t>(text.size());
        return most == 0 || bytes < most;
    });
    return most == 0 ? bytes : std::min(bytes, most);
}

// Where a share ends that should end at byte `at`.
class Border {
 public:
    explicit Border(std::int64_t at) : at_(at) {}

    void see(std::int64_t first, std::string_view text) {
        if (line_feed_) return;
        for (auto i = static_cast<std::size_t>(std::max<std::int64_t>(0, at_ - first)); i < text.size(); ++i) {
            const auto byte = static_cast<unsigned char>(text[i]);
            if (!character_ && (byte & 0xC0) != 0x80) character_ = first + static_cast<std::int64_t>(i);
            if (byte != '\n') continue;
            line_feed_ = first + static_cast<std::int64_t>(i);
            return;
        }
    }
    bool is_found() const { return line_feed_.has_value(); }
    std::int64_t of_text(std::int64_t bytes) const {
        if (line_feed_ && *line_feed_ + 1 < bytes) return *line_feed_ + 1;
        return std::min(bytes, character_.value_or(bytes));
    }

 private:
    std::int64_t at_;
    std::optional<std::int64_t> line_feed_, character_;
};

}  // namespace

SplitText::SplitText(const std::filesystem::path& file, const DataConfig& data) {
    const std::int64_t bytes = text_bytes(file, data.max_bytes);
    const auto all = static_cast<double>(data.split[0] + data.split[1] + data.split[2]);
    const auto share = [&](std::int64_t parts) {
        return Border(static_cast<std::int64_t>(static_cast<double>(bytes) * (static_cast<double>(parts) / all)));
    };
    Border train = share(data.split[0]), valid = share(data.split[0] + data.split[1]);
    for_each_part(file, bytes + 4, [&](std::int64_t at, std::string_view text) {
        text = text.substr(0, static_cast<std::size_t>(std::max<std::int64_t>(0, bytes - at)));
        train.see(at, text);
        valid.see(at, text);
        return !text.empty() && !(train.is_found() && valid.is_found());
    });
    border_[1] = train.of_text(bytes);
    border_[2] = data.split[2] == 0 ? bytes : std::max(border_[1], valid.of_text(bytes));
    border_[3] = bytes;
}

bool SplitText::give(std::string_view text, const std::function<bool(const DocumentPart&)>& take) {
    const std::int64_t first = given_;
    given_ += static_cast<std::int64_t>(text.size());
    for (std::size_t i = 0; i < std::size(kSplits); ++i) {
        const std::int64_t from = std::max(first, border_[i]), to = std::min(given_, border_[i + 1]);
        if (from >= to) continue;
        const std::string_view part =
            text.substr(static_cast<std::size_t>(from - first), static_cast<std::size_t>(to - from));
        if (!take({kSplits[i], part, from == border_[i], to == border_[i + 1]})) return false;
    }
    return given_ < border_[3] || border_[3] == 0;
}

}  // namespace deft::experiments
