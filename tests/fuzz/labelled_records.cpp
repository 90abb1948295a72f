// experiments/evaluation/labelled_records.h: records of a labelled task as samples; the first byte says the format,
// whether labels are numbers, whether there is a second text, and how long rows are

#include "experiments/datasets/labelled_dataset.h"
#include "tests/fuzz/target.h"

using namespace deft;

namespace {

const std::shared_ptr<const engine::WordPiece>& words() {
    static const auto wordpiece = std::make_shared<const engine::WordPiece>(
        engine::parse_vocab_txt("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##b\n.\n", "vocab.txt"),
        engine::WordPieceRules{});
    return wordpiece;
}

experiments::Task task_of(bool of_numbers, bool has_second, bool is_tsv) {
    const std::string format = is_tsv ? "format = \"tsv\"\ncolumns = [\"a\", \"b\", \"l\"]\n" : "format = \"jsonl\"\n";
    return experiments::parse_task("name = \"n\"\nversion = \"1\"\nsplit = \"s\"\n" +
                                       std::string(of_numbers ? "kind = \"regression\"\nmetrics = [\"pearson\"]\n"
                                                              : "kind = \"classification\"\nmetrics = [\"acc\"]\n") +
                                       "[train]\nfile = \"t\"\n" + format + "[records]\nfile = \"r\"\n" + format +
                                       "[texts]\nfirst = \"{a}\"\nlabel = \"l\"\n" +
                                       (has_second ? "second = \"{b}\"\n" : "") +
                                       (of_numbers ? "" : "labels = [\"no\", true, 3]\n"),
                                   "x.toml", ".");
}

// numbers + 2 * (second + 2 * (tsv + 2 * (longest - 2)))
char how(bool of_numbers, bool has_second, bool is_tsv, int longest) {
    return static_cast<char>(of_numbers + 2 * (has_second + 2 * (is_tsv + 2 * (longest - 2))));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const int bits = data[0];
    return fuzz::read_or_refuse([&] {
        const experiments::Task task = task_of(bits % 2 == 1, bits / 2 % 2 == 1, bits / 4 % 2 == 1);
        const std::int64_t longest = 2 + bits / 8;
        const auto records = experiments::parse_records(task.train, std::string(fuzz::view(data + 1, size - 1)), "x");
        std::int64_t bytes = 0;
        const auto samples = experiments::labelled_samples(task, records, words(), longest, bits % 3 == 0, bytes);
        if (samples->size() != static_cast<std::int64_t>(records.items.size()))
            throw std::logic_error("a record is lost");
        for (std::int64_t i = 0; i < samples->size(); ++i) {
            const auto tokens = samples->tokens(i);
            const bool is_row = tokens.size() >= 2 && samples->length(i) <= longest && tokens.front() == 2 &&
                                tokens.back() == 3 && samples->types(i).size() == tokens.size();
            if (!is_row) throw std::logic_error("a row that is none");
        }
    });
}

std::vector<std::string> fuzz::seeds() {
    return {
        how(false, true, true, 9) + std::string("a b\tb.\tno\n. a\ta\ttrue\nb\tab\t3"),
        how(true, true, true, 4) + std::string("a b\tb.\t3.75\nabb\ta\t-1e3\r\n"),
        how(false, false, false, 12) + std::string("{\"a\": \"a \\u00e9 b\", \"l\": true}\n{\"a\": \"b\", \"l\": 3}\n"),
        how(true, true, false, 5) +
            std::string("{\"a\": \"a\", \"b\": 7, \"l\": 2.5}\n{\"a\": \". . .\", \"b\": \"b\", \"l\": \"0\"}")};
}
