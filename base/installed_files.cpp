#include "base/installed_files.h"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "base/error.h"

namespace deft {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMark = "experiments/datasets.toml";  // by which the right folder is known

std::vector<fs::path> places_for(const fs::path& program) {
    if (const char* override_path = std::getenv("DEFT_FILES"); override_path != nullptr && *override_path != '\0')
        return {override_path};
    const fs::path beside = program.parent_path(), above = beside.parent_path();
    return {beside / "share" / "deft", above / "share" / "deft", beside, above, above.parent_path()};
}

}  // namespace

std::optional<fs::path> files_folder_of(const fs::path& program) {
    std::error_code ignored;
    for (const fs::path& place : places_for(program))
        if (fs::is_regular_file(place / kMark, ignored)) return fs::canonical(place);
    return std::nullopt;
}

fs::path installed_file_of(const fs::path& program, const std::string& path) {
    std::vector<fs::path> places = places_for(program);
    if (const auto folder = files_folder_of(program)) {
        std::error_code ignored;
        if (fs::exists(*folder / path, ignored)) return *folder / path;
        places = {*folder};
    }
    std::string looked;
    for (const fs::path& place : places) looked += (looked.empty() ? "" : ", ") + place.string();
    throw Error(ErrorKind::missing,
                fmt::format("{}, which belongs to deft, is not here (looked for in {})", path, looked),
                "run the program where it was built or installed, or set DEFT_FILES to a source tree or an installed "
                "share/deft");
}

fs::path here_or_installed(const fs::path& path) {
    std::error_code ignored;
    if (path.empty() || path.is_absolute() || fs::exists(path, ignored)) return path;
    const std::optional<fs::path> folder = files_folder();
    return folder && fs::exists(*folder / path, ignored) ? *folder / path : path;
}

std::optional<fs::path> files_folder() {
    return files_folder_of(fs::read_symlink("/proc/self/exe"));
}

fs::path installed_file(const std::string& path) {
    return installed_file_of(fs::read_symlink("/proc/self/exe"), path);
}

}  // namespace deft
