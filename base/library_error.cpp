#include "base/library_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace deft {

std::string message_for_user(const std::exception& error) {
    if (const auto* const files = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
        const std::string other = files->path2().empty() ? "" : " or " + files->path2().string();
        const int reason = files->code().value();
        const std::string fix = reason == EACCES || reason == EPERM
                                    ? "make it readable and writable for this user, or choose another place"
                                    : fix_for_write(reason);
        return Error(ErrorKind::io,
                     fmt::format("cannot use {}{}: {}", files->path1().string(), other, error_text(reason)), fix)
            .what();
    }
    if (const auto* const json = dynamic_cast<const Json::type_error*>(&error); json != nullptr && json->id == kNotUtf8)
        return Error(ErrorKind::usage, "a name or text is not UTF-8", kFixForNotUtf8).what();
    return error.what();
}

}  // namespace deft
