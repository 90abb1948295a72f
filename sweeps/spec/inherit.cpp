#include "sweeps/spec/inherit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/suggestion.h"
#include "sweeps/spec/overruled.h"
#include "sweeps/spec/sweep_file.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

std::string help_for_missing(const fs::path& file, const std::string& written) {
    std::string meant = nearest_sweep_file(file);
    if (meant.empty()) meant = nearest_sweep_file(written);
    return meant.empty() ? "write the path relative to the file that extends it, or the name of a bundled sweep"
                         : fmt::format("did you mean {}?", fs::path(meant).filename().string());
}

ConfigNode over_parents(const fs::path& file, ConfigNode own, std::vector<fs::path>& open_files, ListChanges& changes) {
    const fs::path identity = fs::weakly_canonical(file);
    open_files.push_back(identity);

    ConfigNode whole;
    whole.place = own.place;
    if (const ConfigNode* extends = own.find("extends")) {
        std::vector<ConfigNode> parents = extends->items;
        if (extends->kind == ConfigNode::Kind::text) parents = {*extends};
        if (extends->kind != ConfigNode::Kind::array && extends->kind != ConfigNode::Kind::text)
            throw Error(ErrorKind::config, extends->place, "extends must be an array of files");
        for (const ConfigNode& parent : parents) {
            if (parent.kind != ConfigNode::Kind::text)
                throw Error(ErrorKind::config, parent.place, "extends must contain file names");
            fs::path parent_file = file.parent_path() / parent.text;
            if (!fs::exists(parent_file)) parent_file = bundled_sweep(parent.text).value_or(parent_file);
            const fs::path parent_identity = fs::weakly_canonical(parent_file);
            if (std::find(open_files.begin(), open_files.end(), parent_identity) != open_files.end())
                throw Error(ErrorKind::config, parent.place,
                            fmt::format("{} extends itself, through {}", parent.text, file.filename().string()),
                            "remove one extends of the cycle");
            if (!fs::is_regular_file(parent_file))
                throw Error(ErrorKind::config, parent.place,
                            fs::exists(parent_file) ? fmt::format("{} is not a regular file", parent_file.string())
                                                    : fmt::format("file {} does not exist", parent_file.string()),
                            help_for_missing(parent_file, parent.text));
            override_parents(whole, over_parents(parent_file, parse_toml_file(parent_file), open_files, changes),
                             changes);
        }
        own.erase("extends");
    }
    override_parents(whole, std::move(own), changes);
    open_files.pop_back();
    return whole;
}

// drop_overruled() of the tables called `key`, where both have such.
void drop_overruled_child(ConfigNode& below, const ConfigNode& overlay, std::string_view key) {
    ConfigNode* tables = below.find(key);
    const ConfigNode* own = overlay.find(key);
    if (tables != nullptr && own != nullptr) drop_overruled(*tables, *own);
}

}  // namespace

Inherited with_parents(const fs::path& file, const std::string& text) {
    Inherited inherited;
    std::vector<fs::path> open_files;
    inherited.root = over_parents(file, parse_toml(text, file.string()), open_files, inherited.changes);
    return inherited;
}

bool apply_scale(ConfigNode& root, const std::string& scale, bool may_be_missing) {
    ConfigNode scales;
    if (const ConfigNode* found = root.find("scale")) scales = *found;
    if (scales.kind != ConfigNode::Kind::table)
        throw Error(ErrorKind::config, scales.place, "scale must be a table", "write [scale.smoke]");
    root.erase("scale");
    const ConfigNode* overlay = scales.find(scale);
    if (overlay == nullptr) {
        if (may_be_missing) return false;
        std::vector<std::string> names;
        for (const auto& [name, table] : scales.children) names.push_back(name);
        const std::string has =
            names.empty() ? "the sweep defines no scales" : fmt::format("it has {}", fmt::join(names, ", "));
        throw Error(ErrorKind::config, root.place.file.empty() ? Place{} : Place{root.place.file, 0, 0},
                    fmt::format("this sweep has no scale {}", scale), suggestion(scale, names, has));
    }
    if (overlay->kind != ConfigNode::Kind::table)
        throw Error(ErrorKind::config, overlay->place, fmt::format("scale.{} must be a table", scale));
    drop_overruled_child(root, *overlay, "defaults");
    ConfigNode* stages = root.find("stage");
    if (const ConfigNode* own = overlay->find("stage"); stages != nullptr && own != nullptr)
        for (const auto& [name, table] : own->children) drop_overruled_child(*stages, *own, name);
    merge(root, *overlay);
    return true;
}

}  // namespace deft::sweeps
