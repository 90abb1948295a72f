#pragma once
// A folder for one test, and files in it.

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "tests/catch.h"

namespace deft::test {

struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "deft_sweeps_XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::filesystem::path write(const std::string& name, const std::string& text) const {
        make_folder((path / name).parent_path());
        write_file_atomically(path / name, text);
        return path / name;
    }
};

// The message of the error that `action` throws, which must be of that kind; empty where it throws none.
inline std::string refusal(ErrorKind kind, const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        CHECK(error.kind() == kind);
        return error.what();
    }
    return "";
}

}  // namespace deft::test
