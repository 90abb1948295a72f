#pragma once
// The binary files of CIFAR-10 and CIFAR-100 (Krizhevsky 2009): records end to end, without a header.
//
//   CIFAR-10:  u8 label                        | u8[3][32][32] red, green, blue planes
//   CIFAR-100: u8 coarse label | u8 fine label | u8[3][32][32]
//
// For CIFAR-100 the fine label is read.

#include <filesystem>

#include "engine/data/images/image_file.h"
#include "engine/data/images/image_set.h"

namespace deft::engine {

enum class CifarFormat { cifar10, cifar100 };

// Errors: io, naming the file and what is wrong with it: empty, truncated, too long, or a label outside the classes.
ImageSet read_cifar(const ImageFile& file, CifarFormat format);

// A plain, .gz or .zst file. Errors: as above; io, for damaged packing.
ImageSet read_cifar_file(const std::filesystem::path& file, CifarFormat format);

}  // namespace deft::engine
