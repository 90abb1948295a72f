#pragma once
// A folder that goes with its owner.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace deft {

struct ScratchFolder {
    std::filesystem::path path;

    // Errors: io.
    ScratchFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "deft_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw Error(ErrorKind::io, "cannot make a temporary folder");
        path = name;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
};

}  // namespace deft
