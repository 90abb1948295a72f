#pragma once
// IDX, the format of MNIST's files (LeCun, Cortes and Burges 1998): a file of images and one of their labels.
//
//   0 0 | u8 type = 8, unsigned bytes | u8 D dimensions | u32[D] sizes, big-endian | the values, last dimension fastest
//
// Images have three dimensions (N, height, width) and one channel, labels one (N). No other type is read.

#include <cstdint>
#include <filesystem>

#include "engine/data/images/image_file.h"
#include "engine/data/images/image_set.h"

namespace deft::engine {

// Errors: io, naming the file and what is wrong with it: foreign, truncated, too long, a size of zero, a label that is
// not below `classes`, other labels than images; config, for no classes.
ImageSet read_idx(const ImageFile& images, const ImageFile& labels, std::int64_t classes);

// Plain, .gz and .zst files. Errors: as above; io, for damaged packing.
ImageSet read_idx_files(const std::filesystem::path& images, const std::filesystem::path& labels, std::int64_t classes);

}  // namespace deft::engine
