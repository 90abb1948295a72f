#include "sweeps/spec/inherited_recipes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "sweeps/spec/overruled.h"

namespace deft::sweeps {

namespace {

using Kind = ConfigNode::Kind;

std::string name_of(const ConfigNode& entry) {
    const ConfigNode* name = entry.kind == Kind::table ? entry.find("name") : nullptr;
    return name != nullptr && name->kind == Kind::text ? name->text : std::string();
}

void edit_recipe(ConfigNode& below, const ConfigNode& own) {
    drop_overruled(below, own);
    for (const auto& [key, table] : own.children)  // of stages
        if (ConfigNode* tables = below.find(key); tables != nullptr && tables->kind == Kind::table)
            drop_overruled(*tables, table);
    merge(below, own);
    below.place = own.place;
}

// A name that is twice in `own` stays twice, and is refused like that of any file.
ConfigNode joined_recipes(const ConfigNode& below, const ConfigNode& own, std::vector<EditedRecipe>& edits) {
    ConfigNode joined = below;
    std::set<std::string> edited;
    for (const ConfigNode& entry : own.items) {
        const std::string name = name_of(entry);
        const auto found = std::find_if(joined.items.begin(), joined.items.end(), [&](const ConfigNode& other) {
            return !name.empty() && name_of(other) == name;
        });
        if (found == joined.items.end() || !edited.insert(name).second) {
            joined.items.push_back(entry);
        } else {
            edits.push_back({name, entry.place, found->place});
            edit_recipe(*found, entry);
        }
    }
    return joined;
}

bool is_list_of_tables(const ConfigNode& node) {
    return node.kind == Kind::array && !node.items.empty() && node.items.front().kind == Kind::table;
}

void note_replaced(const ConfigNode& below, const ConfigNode& own, const std::string& path,
                   std::vector<ReplacedList>& replaced) {
    for (const auto& [key, value] : own.children) {
        const ConfigNode* other = below.find(key);
        const std::string own_path = path.empty() ? key : path + "." + key;
        if (other == nullptr || own_path == "case") continue;
        if (value.kind == Kind::table && other->kind == Kind::table)
            note_replaced(*other, value, own_path, replaced);
        else if (is_list_of_tables(value) && is_list_of_tables(*other))
            replaced.push_back({own_path, value.items.front().place, other->items.front().place, other->items.size()});
    }
}

}  // namespace

void override_parents(ConfigNode& below, ConfigNode own, ListChanges& changes) {
    const ConfigNode* recipes = below.find("case");
    if (ConfigNode* own_recipes = own.find("case"); recipes != nullptr && own_recipes != nullptr &&
                                                    recipes->kind == Kind::array && own_recipes->kind == Kind::array)
        *own_recipes = joined_recipes(*recipes, *own_recipes, changes.edited);
    note_replaced(below, own, "", changes.replaced);
    merge(below, own);
}

std::vector<std::string> change_notes(const ListChanges& changes, const std::string& scale) {
    std::vector<std::string> notes;
    const auto file = [](const Place& place) { return std::filesystem::path(place.file).filename().string(); };
    for (const ReplacedList& list : changes.replaced) {
        if (list.path.starts_with("scale.") && !list.path.starts_with("scale." + scale + ".")) continue;
        notes.push_back(fmt::format("The list {} of {} replaces the list of {}, which has {}.", list.path,
                                    file(list.by), file(list.of), counted(list.count, "entry", "entries")));
    }
    for (const EditedRecipe& recipe : changes.edited)
        notes.push_back(
            fmt::format("Recipe {} of {} is edited in {}: keys there replace the inherited ones; other keys remain.",
                        recipe.name, file(recipe.of), recipe.by.text()));
    return notes;
}

}  // namespace deft::sweeps
