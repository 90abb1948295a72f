#include "sweeps/spec/published_tables.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/installed_files.h"
#include "base/suggestion.h"

namespace deft::sweeps {

std::vector<std::string> published_tables() {
    return reporting::published_table_names(installed_file("reporting/paper"));
}

std::optional<reporting::PublishedTable> published_table(const std::string& name) {
    if (name.empty()) return std::nullopt;
    // The name may come from a database, and must not be taken for a path.
    for (const std::string& known : published_tables())
        if (known == name) return reporting::read_published_table(installed_file("reporting/paper/" + name + ".toml"));
    throw Error(ErrorKind::missing, fmt::format("no published table is named {}", name),
                suggestion(name, published_tables()));
}

}  // namespace deft::sweeps
