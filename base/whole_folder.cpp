#include "base/whole_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>

#include "base/error.h"
#include "base/files.h"

namespace deft {

namespace fs = std::filesystem;

namespace {

// `temporary` becomes `folder`. Where the file system can, both change places at once, so that no moment is without
// either; elsewhere the old folder goes first.
void put_in_place(const fs::path& temporary, const fs::path& folder) {
    if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
        fs::remove_all(temporary);
        return;
    }
    fs::remove_all(folder);
    fs::rename(temporary, folder);
}

}  // namespace

void write_whole_folder(const fs::path& folder, const fs::path& temporary,
                        const std::function<void(const fs::path&)>& write) {
    try {
        fs::remove_all(temporary);
        make_folder(temporary);
        write(temporary);
        sync_folder(temporary);
        put_in_place(temporary, folder);
        sync_folder(folder.has_parent_path() ? folder.parent_path() : fs::path("."));
    } catch (const fs::filesystem_error& error) {
        std::error_code ignored;
        fs::remove_all(temporary, ignored);
        throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", folder.string(), error.code().message()),
                    fix_for_write(error.code().value()));
    } catch (...) {  // on a full disk the files that are whole would be in the way
        std::error_code ignored;
        fs::remove_all(temporary, ignored);
        throw;
    }
}

}  // namespace deft
