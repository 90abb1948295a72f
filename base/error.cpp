#include "base/error.h"

#include <fmt/format.h>

namespace deft {

std::string Place::text() const {
    if (line == 0) return file;
    if (column == 0) return fmt::format("{}:{}", file, line);
    return fmt::format("{}:{}:{}", file, line, column);
}

namespace {

std::string compose(const Place& place, const std::string& what, const std::string& fix, const std::string& unchanged) {
    std::string message = place.file.empty() ? what : place.text() + ": " + what;
    if (!fix.empty()) message += "\n  help: " + fix;
    const bool is_sentence = unchanged.starts_with("nothing was ") || unchanged.starts_with("no ");
    if (!unchanged.empty()) message += (is_sentence ? "\n  note: " : "\n  note: unchanged: ") + unchanged;
    return message;
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& what, const std::string& fix, const std::string& unchanged)
    : Error(kind, Place{}, what, fix, unchanged) {}

Error::Error(ErrorKind kind, const Place& place, const std::string& what, const std::string& fix,
             const std::string& unchanged)
    : std::runtime_error(compose(place, what, fix, unchanged)), kind_(kind) {}

int exit_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::usage:
        case ErrorKind::config:
        case ErrorKind::data:
            return kExitUsage;
        case ErrorKind::missing:
            return kExitNothing;
        case ErrorKind::database:
            return kExitDatabase;
        case ErrorKind::io:
        case ErrorKind::nonfinite:
        case ErrorKind::memory:
        case ErrorKind::device:
            return kExitFailed;
    }
    return kExitFailed;
}

}  // namespace deft
