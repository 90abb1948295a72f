#include "sweeps/spec/published_tables.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"

namespace deft::sweeps {

namespace {

const std::filesystem::path kFolder = DEFT_SOURCE_DIR "/reporting/paper";

}  // namespace

std::vector<std::string> published_tables() {
    return reporting::published_table_names(kFolder);
}

std::optional<reporting::PublishedTable> published_table(const std::string& name) {
    if (name.empty()) return std::nullopt;
    // A name from a note is no path.
    for (const std::string& known : published_tables())
        if (known == name) return reporting::read_published_table(kFolder / (name + ".toml"));
    throw Error(ErrorKind::missing, fmt::format("there is no published table {}", name),
                fmt::format("known: {}", fmt::join(published_tables(), ", ")));
}

}  // namespace deft::sweeps
