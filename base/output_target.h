#pragma once
// The place that an output path leads to: a regular file, which a writer replaces, or a stream, which it writes
// through.

#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "base/descriptor.h"

namespace deft {

struct OutputTarget {
    std::filesystem::path file;           // the path with its symbolic links followed
    std::optional<struct stat> replaced;  // the regular file at that path, if any
    Descriptor stream;  // open for a pipe, a device, or a descriptor of this process such as /dev/stdout
};

// Opening a pipe waits for its reader, as a shell's redirection does. Returns 0, or the errno of a path that cannot be
// written.
int find_output_target(const std::filesystem::path& file, OutputTarget& target);

}  // namespace deft
