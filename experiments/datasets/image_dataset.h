#pragma once
// The images of a data set that is known by name.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/data/images/image_set.h"
#include "experiments/config.h"
#include "experiments/datasets/catalogue.h"
#include "experiments/datasets/prepared_corpus.h"

namespace deft::experiments {

struct ImageDataset {
    std::string form;    // of the entry
    std::string sha256;  // of its files' contents, in their order
    engine::ImageSet training, testing;
};

// The entry of data.corpus; nothing where it is not a set of images.
std::optional<CatalogueEntry> image_entry(const DataConfig& data);

// How many images of the form at hand are to train on, without reading them. data.corpus is a set of images.
std::int64_t training_images(const DataConfig& data, const std::filesystem::path& base_folder);

// The identity of the images and their division; their vocabulary is 0. Errors: as read_image_dataset().
DatasetIdentity image_identity(const DataConfig& data, const std::string& base_folder);

// Errors: as read_image_dataset(); config, where the images are not those of data.sha256 any more.
ImageDataset load_image_dataset(const DataConfig& data, const std::string& base_folder);

// Reads the form at hand, whose files may be packed. Where the form does not say what is for testing, every
// `test_every`-th image is. Errors: config, for a data set without images, and as engine::select(); data, for a file
// that is not here, with how to get it; io, for a file that is damaged, or another than the catalogue knows.
ImageDataset read_image_dataset(const CatalogueEntry& entry, std::int64_t test_every,
                                const std::filesystem::path& base_folder);

}  // namespace deft::experiments
