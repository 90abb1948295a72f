#include "sweeps/spec/own_text_sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/text_stream.h"
#include "experiments/datasets/corpus_source.h"
#include "experiments/datasets/find_file.h"
#include "experiments/datasets/prepared_corpus.h"
#include "experiments/datasets/text_files.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/numbers.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;
using experiments::TextFile;

// A model and budget that train in minutes on two cores. Half of the budget has more than the 200 steps that a row
// needs to count (reporting/analysis/scores/measured.h).
struct Size {
    std::int64_t least_bytes;
    std::int64_t layers, width, heads, seqlen, batch_size;
    std::int64_t vocab;  // 0: bytes
    std::int64_t budget;
};

constexpr std::array<Size, 3> kSizes = {{
    {1'000'000, 4, 64, 2, 64, 8, 2048, 500'000},
    {50'000, 4, 64, 2, 64, 8, 512, 400'000},
    {0, 4, 32, 2, 32, 4, 0, 200'000},
}};

const Size& size_for(std::int64_t bytes) {
    return *std::find_if(kSizes.begin(), kSizes.end(), [&](const Size& size) { return bytes >= size.least_bytes; });
}

// The name without folders and without .txt, .jsonl, .gz and .zst.
std::string stem(const std::string& name) {
    const std::string file = fs::path(name).filename().string();
    return file.substr(0, file.find('.'));
}

bool is_validation(const std::string& name) {
    return std::set<std::string>{"valid", "validation", "val", "dev"}.contains(stem(name));
}

// Refuses binary files that are named as text. The engine would train on their bytes.
void require_printable(const fs::path& file) {
    experiments::require_text(file);
    std::array<char, 1 << 16> buffer;
    const std::size_t count = TextStream(file).read(buffer.data(), buffer.size());
    const auto controls =
        std::count_if(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count), [](char c) {
            return (static_cast<unsigned char>(c) < ' ' &&
                    std::string_view("\t\n\v\f\r\x1b").find(c) == std::string_view::npos);
        });
    if (controls * 100 <= static_cast<std::ptrdiff_t>(count)) return;
    throw Error(ErrorKind::config,
                fmt::format("{} is not text: it has {} control characters in its first {} bytes", file.string(),
                            controls, count),
                "name text files: .txt or .jsonl, each also .gz or .zst");
}

// The name by which a sweep file in `folder` finds the same file, folder or pattern.
std::string name_from(const fs::path& folder, const std::string& name, bool is_pattern) {
    const fs::path absolute = fs::absolute(name).lexically_normal();
    std::string relative = absolute.lexically_relative(fs::absolute(folder).lexically_normal()).generic_string();
    if (relative.empty() || relative.starts_with("..")) return absolute.generic_string();
    if (is_pattern) return relative;
    // The mirror and the download folder are searched before the sweep file's.
    std::error_code ignored;
    for (const fs::path& other : experiments::data_folders(folder))
        if (fs::exists(other / relative, ignored)) {
            if (!fs::equivalent(other / relative, absolute, ignored)) return absolute.generic_string();
            break;
        }
    return relative;
}

// A file may have such characters in its name.
bool names_pattern(const std::string& name) {
    std::error_code ignored;
    return experiments::is_pattern(name) && !fs::exists(name, ignored);
}

// Reads the training files until kSurveyBytes. Returns each document's bytes.
std::vector<std::int64_t> read_documents(const std::vector<TextFile>& files, OwnText& text) {
    experiments::CorpusSource source;
    for (const TextFile& file : files) {
        experiments::SourceFile& read = source.files.emplace_back();
        read.name = file.name;
        read.path = file.path;
        if (experiments::is_json_lines(file.name)) read.reader = experiments::DocumentReader::jsonl;
    }
    std::vector<std::int64_t> documents;
    std::int64_t open = 0;
    experiments::for_each_document(source, {}, [&](const experiments::DocumentPart& part) {
        text.bytes += static_cast<std::int64_t>(part.text.size());
        open = (part.begins ? 0 : open) + static_cast<std::int64_t>(part.text.size());
        if (part.ends && open > 0) documents.push_back(open);
        text.is_more = text.bytes >= kSurveyBytes;
        return !text.is_more;
    });
    text.documents = static_cast<std::int64_t>(documents.size());
    return documents;
}

std::int64_t sum(const std::vector<std::int64_t>& values, std::int64_t first, std::int64_t last) {
    return std::accumulate(values.begin() + first, values.begin() + last, std::int64_t{0});
}

// A tenth of the documents validates; a half, where a tenth is too little text.
std::vector<std::int64_t> choose_split(const std::vector<std::int64_t>& documents, const OwnText& text) {
    if (text.documents < 2) return {90, 10, 0};  // one text is cut
    for (const std::vector<std::int64_t>& split : {std::vector<std::int64_t>{90, 10, 0}, {50, 50, 0}}) {
        const experiments::DocumentRanges ranges = experiments::divide_documents(text.documents, split);
        if (std::min(sum(documents, ranges.train_first, ranges.train_last),
                     sum(documents, ranges.valid_first, ranges.valid_last)) >= kLeastBytes / 10)
            return split;
    }
    throw Error(ErrorKind::config, "the last documents are too small to validate a model on",
                "add a validation text, as in valid.txt");
}

std::string quoted(const std::string& text) {
    return json_text(Json(text));
}

std::string quoted(const std::vector<std::string>& names) {
    std::vector<std::string> all;
    for (const std::string& name : names) all.push_back(quoted(name));
    return fmt::format("[{}]", fmt::join(all, ", "));
}

std::string size_text(const OwnText& text) {
    return fmt::format("{}{} in {} and {}", text.is_more ? "at least " : "",
                       reporting::si(static_cast<double>(text.bytes), "B"), counted(text.files, "file"),
                       counted(text.documents, "document"));
}

}  // namespace

OwnText survey_text(const std::vector<std::string>& names, const fs::path& folder) {
    OwnText text;
    std::vector<TextFile> train;
    std::vector<std::vector<TextFile>> found;  // by name: a shell expands a pattern to a name per file
    bool has_validation = false;
    for (const std::string& name : names) {
        std::error_code ignored;
        if (!names_pattern(name) && !fs::exists(name, ignored))
            throw Error(ErrorKind::data, fmt::format("{} does not exist", name),
                        "name a file, a folder or a pattern such as 'books/*.txt'");
        const fs::path absolute = names_pattern(name) ? fs::path(name) : fs::absolute(name);
        found.push_back(experiments::text_files(absolute.string(), fs::current_path()));
        for (const TextFile& file : found.back()) has_validation = has_validation || is_validation(file.path.string());
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::vector<std::string> single;  // named one by one where a name has files that do not train
        for (TextFile& file : found[i]) {
            file.name = file.path.string();
            experiments::is_json_lines(file.name);
            require_printable(file.path);
            const std::string named = name_from(folder, file.name, false);
            if (is_validation(file.name)) {
                text.valid_files.push_back(named);
            } else if (has_validation && stem(file.name) == "test") {
                text.left_out.push_back(named);
            } else {
                single.push_back(named);
                train.push_back(file);
            }
        }
        if (single.size() == found[i].size()) single = {name_from(folder, names[i], names_pattern(names[i]))};
        text.train_files.insert(text.train_files.end(), single.begin(), single.end());
    }
    if (train.empty())
        throw Error(
            ErrorKind::config,
            fmt::format("{} is a validation text by its name, and no training text remains", text.valid_files.front()),
            "add a training text");
    text.files = static_cast<std::int64_t>(train.size());
    const std::vector<std::int64_t> documents = read_documents(train, text);
    if (text.bytes < kLeastBytes)
        throw Error(ErrorKind::config,
                    fmt::format("these files contain {} of text, but a sweep needs {}", counted(text.bytes, "byte"),
                                kLeastBytes),
                    "add more text");
    if (text.valid_files.empty()) text.split = choose_split(documents, text);
    return text;
}

std::string own_text_sweep(const std::string& name, const std::string& file, const OwnText& text) {
    const Size& size = size_for(text.bytes);
    const std::int64_t shortest = size.seqlen / 4;
    std::string toml = fmt::format(
        "# A sweep on your own text: does a technique reach the baseline's quality with fewer tokens?\n"
        "#\n"
        "#   deft plan {0}\n"
        "#       checks this file; shows steps, tokens and memory\n"
        "#   deft run {0}\n"
        "#       trains, evaluates and prints the answer\n"
        "#   deft keys\n"
        "#       lists every key; deft keys train.learning_rate explains one\n"
        "name = {1}\n\n"
        "# Each recipe is trained once per seed. A verdict needs three seeds.\n"
        "seeds = [1, 2, 3]\n"
        "baseline = \"baseline\"\n\n"
        "[defaults.data]\n"
        "corpus = \"text\"\n"
        "# {2}. A .txt file is one document, a line of .jsonl is one.\n"
        "train_files = {3}\n",
        reporting::shell_word(file), quoted(name), size_text(text), quoted(text.train_files));
    if (!text.valid_files.empty())
        toml += fmt::format("valid_files = {}\n", quoted(text.valid_files));
    else
        toml += fmt::format(
            "# Percent of the documents to train, validate and test on; valid_files names a validation text instead.\n"
            "split = [{}]\n",
            fmt::join(text.split, ", "));
    for (const std::string& left : text.left_out) toml += fmt::format("# Left out: {}\n", quoted(left));
    toml += "# \"bytes\", \"gpt2\", \"bpe\" (trained on this text), or a folder with vocab.json and merges.txt.\n";
    toml += size.vocab == 0 ? "tokenizer = \"bytes\"\n" : fmt::format("tokenizer = \"bpe\"\nvocab = {}\n", size.vocab);
    toml += fmt::format(
        "\n# A small model that trains in minutes on two cores. deft plan --preset lists larger ones.\n"
        "[defaults.model]\n"
        "layers = {}\nwidth = {}\nheads = {}\nseqlen = {}\n\n"
        "[defaults.train]\n"
        "batch_size = {}\n"
        "budget_tokens = {}        # layer-averaged tokens of the baseline; a small text is read several times\n"
        "learning_rate = 4e-3\n"
        "warmup_tokens = {}\n"
        "decay = \"cosine\"\n\n",
        size.layers, size.width, size.heads, size.seqlen, size.batch_size, size.budget, size.budget / 25);
    toml += fmt::format(
        "# Bits per byte of the validation text is the score. deft data list shows tasks to add, as in\n"
        "# [defaults.eval]\n"
        "# tasks = [\"lambada\"]\n\n"
        "# Every recipe runs at all and at half of the tokens.\n"
        "[axes.grid]\n"
        "\"train.budget_fraction\" = [1.0, 0.5]\n\n"
        "[[case]]\n"
        "name = \"baseline\"\n\n"
        "# Curriculum learning: sequences begin at {0} tokens and grow to {1}.\n"
        "[[case]]\n"
        "name = \"CL\"\n"
        "[case.curriculum.seqtru]\n{2}\n"
        "# Random layerwise token dropping: middle layers see {0} tokens first, all at the end.\n"
        "[[case]]\n"
        "name = \"random-LTD\"\n"
        "[case.random_ltd]\n{3}\n"
        "[[case]]\n"
        "name = \"CL+random-LTD\"\n"
        "[case.curriculum.seqtru]\n{2}"
        "[case.random_ltd]\n{3}",
        shortest, size.seqlen, fmt::format("min = {}\ndifficulty_step = 8\nduration = 0.4\n", shortest),
        fmt::format("min = {}\nstep = 8\nduration = 0.7\n", shortest));
    return toml;
}

}  // namespace deft::sweeps
