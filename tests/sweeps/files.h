#pragma once
// A folder for one test, and files in it.

#include <filesystem>
#include <string>

#include "base/files.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

namespace deft::test {

struct Folder : private TemporaryFolder {
    const std::filesystem::path& path = TemporaryFolder::path();

    std::filesystem::path write(const std::string& name, const std::string& text) const {
        make_folder((path / name).parent_path());
        write_file_atomically(path / name, text);
        return path / name;
    }
};

}  // namespace deft::test
