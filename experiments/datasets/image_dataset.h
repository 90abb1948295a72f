#pragma once
// The images of a data set that is known by name.

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/data/images/image_set.h"
#include "experiments/datasets/catalogue.h"

namespace deft::experiments {

struct ImageDataset {
    std::string form;    // of the entry
    std::string sha256;  // of its files' contents, in their order
    engine::ImageSet training, testing;
};

// Reads the form at hand, whose files may be packed. Where the form does not say what is for testing, every
// `test_every`-th image is. Errors: config, for a data set without images, and as engine::select(); data, for a file
// that is not here, with how to get it; io, for a file that is damaged, or another than the catalogue knows.
ImageDataset read_image_dataset(const CatalogueEntry& entry, std::int64_t test_every,
                                const std::filesystem::path& base_folder);

}  // namespace deft::experiments
