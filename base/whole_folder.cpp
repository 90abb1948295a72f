#include "base/whole_folder.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"

namespace deft {

namespace fs = std::filesystem;

void write_whole_folder(const fs::path& folder, const fs::path& temporary,
                        const std::function<void(const fs::path&)>& write) {
    try {
        fs::remove_all(temporary);
        make_folder(temporary);
        write(temporary);
        sync_folder(temporary);
        fs::remove_all(folder);
        fs::rename(temporary, folder);
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
