#pragma once
// The data sets that are known by name: experiments/datasets.toml.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace deft::experiments {

struct CatalogueFile {
    std::string path;        // in a mirror folder, without .gz or .zst
    std::string url;         // https; empty: cannot be downloaded
    std::string sha256;      // of the text, unpacked; "unknown": recorded at the first download
    std::int64_t bytes = 0;  // of the text; 0: unknown
    std::string split;       // train | valid | test; empty: documents are split
};

// The same data set as different places have it; a mirror's form is a second one.
struct CatalogueForm {
    std::string name;    // "official", "converted"
    std::string reader;  // of a corpus as document_reader() takes it; of images idx | cifar10 | cifar100; else "files"
    std::string note;    // what was changed against the source; empty: nothing
    std::vector<CatalogueFile> files;
    std::int64_t images = 0;  // of the files to train on, or of all that are to be divided; of other kinds 0
};

struct CatalogueEntry {
    std::string name;
    std::string kind;  // corpus | task | tokenizer | images
    std::string title;
    std::string licence;
    std::string source;                                             // address of the page that describes it
    std::string supply;                                             // for what may not be downloaded: how to supply it
    std::int64_t height = 0, width = 0, channels = 0, classes = 0;  // of images
    std::vector<CatalogueForm> forms;
    Place place;
};

// In the file's order. Errors: config, with the place.
std::vector<CatalogueEntry> load_catalogue();
std::vector<CatalogueEntry> parse_catalogue(const std::filesystem::path& file);

// Errors: config, with the nearest name.
CatalogueEntry catalogue_entry(const std::string& name);

// The first form whose files are all here; the first form where none is.
const CatalogueForm& form_at_hand(const CatalogueEntry& entry, const std::filesystem::path& base_folder);

}  // namespace deft::experiments
