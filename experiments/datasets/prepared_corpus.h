#pragma once
// The folder that a corpus is tokenised into, once, whatever its samples are:
//
//   DATA_FOLDER/<first 16 digits of its sha256>/
//     manifest.json      what it is made of, its documents by split, and the hashes that its files are held to
//     tokens.bin, .idx   all documents, as Megatron stores them
//     tokenizer/         the files of its tokenizer, where it has any
//     difficulty/        what `deft analyze` found, see difficulty.h

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "engine/data/indexed_dataset.h"
#include "experiments/config.h"
#include "experiments/datasets/corpus_source.h"
#include "experiments/datasets/tokenize.h"

namespace deft::experiments {

// Raised by hand whenever the same texts give other tokens.
inline constexpr int kCorpusFormat = 1;

// The identity of a corpus: a hash of its texts, their split and its tokenizer; and the tokenizer's vocabulary.
struct DatasetIdentity {
    std::string sha256;
    std::int64_t vocab = 0;
    std::int64_t epoch_samples = 0;  // of labelled texts: how many there are to train on
};

// Documents of the two splits, as ranges of the stored ones.
struct DocumentRanges {
    std::int64_t train_first = 0, train_last = 0, valid_first = 0, valid_last = 0;
};

// Document borders by shares: contiguous, in the documents' order, at least one document for train and valid.
DocumentRanges divide_documents(std::int64_t documents, const std::vector<std::int64_t>& shares);

// `tokenizer` spells what decides the tokens of a text. Fills the hashes of the source's files, so that what is
// tokenised later is verified to be what was hashed. `seen`: as source_sha256().
std::string corpus_sha256(CorpusSource& source, const DataConfig& data, const std::string& tokenizer,
                          SeenFiles* seen = nullptr);

// Writes FOLDER/tokens and FOLDER/tokenizer, and calls `each` for every document: its split and its bytes of text.
// Gives the manifest's "tokenizer": its name, sha256 and vocab; and fills `written`.
using WriteCorpus = std::function<Json(const CorpusSource& source, const std::filesystem::path& folder,
                                       const std::function<void(Split, std::int64_t)>& each, Tokenized& written)>;

struct PreparedFolder {
    std::filesystem::path path;
    std::string sha256;         // of the corpus
    std::string note;           // for people: that it was damaged, and recreated
    double waited_seconds = 0;  // while another process made it
};

// Operations of a kind of samples on such a folder.
struct CorpusRecipe {
    std::function<std::string(CorpusSource&)> identity;  // the corpus's sha256
    WriteCorpus write;
    std::function<void(const PreparedFolder&)> open;  // Errors: DamagedCorpus
};

// Opens the folder of the corpus, made where it is absent, and recreated from its texts where it is damaged; several
// processes may ask at once. What data.sha256 names is found without reading the texts. Errors: config, where the texts
// are not those of data.sha256 any more, and for a corpus without training or validation text; io, for a damaged folder
// whose texts are not here; those of the recipe.
PreparedFolder open_or_prepare(const DataConfig& data, const std::string& base_folder,
                               const std::filesystem::path& data_folder, const CorpusRecipe& recipe,
                               const PrepareProgress& progress);

std::filesystem::path prepared_folder(const std::filesystem::path& data_folder, const std::string& sha256);
// Tokens of its training documents, by their index alone: nothing is verified. Nothing where it is not tokenised yet,
// or what is there cannot be read.
std::optional<std::int64_t> prepared_train_tokens(const std::filesystem::path& data_folder, const std::string& sha256);
// Errors: config, where data.sha256 is known and another.
void require_planned(const DataConfig& data, const std::string& sha256);

// A folder that does not hold what was written.
class DamagedCorpus : public Error {
 public:
    DamagedCorpus(const std::filesystem::path& folder, const std::string& what);
};

// Verifies the stored files: every block of the tokens is as it was written, at about 1 GB/s a core with SHA
// instructions; the documents by split are there. Errors: DamagedCorpus.
struct PreparedCorpus {
    std::string name;
    std::string tokenizer, tokenizer_sha256;
    DocumentRanges documents;
    std::int64_t train_bytes = 0, valid_bytes = 0;
    std::shared_ptr<const engine::IndexedDataset> tokens;
};
PreparedCorpus open_prepared(const PreparedFolder& folder);

// Errors: DamagedCorpus, where the tokenizer that the folder holds is not the one of its manifest.
void require_tokenizer(const PreparedCorpus& corpus, const std::string& sha256, const std::filesystem::path& folder);
// Errors: DamagedCorpus, for a token beyond the vocabulary: it would be read as an index.
void require_vocab(engine::TokenSpan tokens, std::int32_t vocab, const std::filesystem::path& folder);

}  // namespace deft::experiments
