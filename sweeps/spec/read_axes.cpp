#include "sweeps/spec/read_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/table_reader.h"
#include "base/text.h"

namespace deft::sweeps {

namespace {

using Kind = ConfigNode::Kind;
using Paths = std::vector<std::pair<std::string, const ConfigNode*>>;

[[noreturn]] void refuse_axes(const Place& place, const std::string& what, const std::string& fix = {}) {
    throw Error(ErrorKind::config, place, what, fix);
}

void add_axis(std::vector<Axis>& axes, Axis axis) {
    for (const Axis& other : axes)
        if (other.path == axis.path)
            refuse_axes(axis.place, fmt::format("axis {} is given twice, first at {}", axis.path, other.place.text()),
                        "give it once");
    axes.push_back(std::move(axis));
}

// The next free number of an axis.
int next_together(const std::vector<Axis>& axes) {
    int most = 0;
    for (const Axis& axis : axes) most = std::max(most, axis.together);
    return most + 1;
}

void require_table(const ConfigNode& node, const std::string& name) {
    if (node.kind != Kind::table)
        refuse_axes(node.place, fmt::format("{} must be a table of paths and their values", name));
}

// A table of paths and arrays of values, all of which get that number.
void add_values(const ConfigNode& table, const std::string& name, int together, std::vector<Axis>& axes) {
    require_table(table, name);
    Paths paths;
    flatten(table, "", paths);
    for (const auto& [path, values] : paths) {
        if (values->kind != Kind::array || values->items.empty())
            refuse_axes(values->place, fmt::format("axis {} must be an array of at least one value", path));
        add_axis(axes, {path, values->items, values->place, together});
    }
}

// An empty array removes the file's list in a scale.
const std::vector<ConfigNode>& tables_of(const ConfigNode& node, const std::string& name) {
    if (node.kind != Kind::array)
        refuse_axes(node.place, fmt::format("{} must be an array of tables", name), fmt::format("write [[{}]]", name));
    return node.items;
}

// The axes that go together, from the one at `first` on.
void refuse_equal_places(const std::vector<Axis>& axes, std::size_t first, const std::string& name) {
    std::map<std::string, std::size_t> said;
    for (std::size_t i = 0; first < axes.size() && i < axes[first].values.size(); ++i) {
        Json values = Json::array();
        for (std::size_t k = first; k < axes.size(); ++k) values.push_back(to_json(axes[k].values[i]));
        const auto [same, is_new] = said.emplace(values.dump(), i);
        if (!is_new)
            refuse_axes(axes[first].values[i].place,
                        fmt::format("{} has the same values at positions {} and {}", name, same->second + 1, i + 1),
                        "remove one of them");
    }
}

void add_zip(const ConfigNode& node, const std::string& name, std::vector<Axis>& axes) {
    for (const ConfigNode& table : tables_of(node, name)) {
        const std::size_t first = axes.size();
        add_values(table, name, next_together(axes), axes);
        if (axes.size() < first + 2)
            refuse_axes(table.place, fmt::format("{} has only one key, but values that change together need two", name),
                        "add another key, or move this one to the grid");
        for (std::size_t i = first + 1; i < axes.size(); ++i)
            if (axes[i].values.size() != axes[first].values.size())
                refuse_axes(
                    axes[i].place,
                    fmt::format("values of {} change together, but {} has {} and {} has {}", name, axes[i].path,
                                counted(axes[i].values.size(), "value"), axes[first].path, axes[first].values.size()),
                    "give every key the same number of values");
        refuse_equal_places(axes, first, name);
    }
}

// As a zip that is written point by point.
void add_list(const ConfigNode& node, const std::string& name, std::vector<Axis>& axes) {
    std::vector<Axis> of_list;
    const std::vector<ConfigNode>& tables = tables_of(node, name);
    const int together = next_together(axes);
    for (const ConfigNode& table : tables) {
        require_table(table, name);
        Paths paths;
        flatten(table, "", paths);
        if (paths.empty()) refuse_axes(table.place, fmt::format("an entry of {} is empty", name));
        for (const auto& [path, value] : paths) {
            const auto known =
                std::find_if(of_list.begin(), of_list.end(), [&](const Axis& axis) { return axis.path == path; });
            if (known != of_list.end())
                known->values.push_back(*value);
            else if (&table == &tables.front())
                of_list.push_back({path, {*value}, value->place, together});
            else
                refuse_axes(value->place, fmt::format("the first entry of {} has no {}", name, path),
                            "give all entries the same keys");
        }
        const auto nth = static_cast<std::size_t>(&table - tables.data()) + 1;
        for (const Axis& axis : of_list)
            if (axis.values.size() != nth)
                refuse_axes(table.place, fmt::format("this entry of {} lacks {} or repeats it", name, axis.path),
                            "give all entries the same keys");
    }
    refuse_equal_places(of_list, 0, name);
    for (Axis& axis : of_list) add_axis(axes, std::move(axis));
}

}  // namespace

void flatten(const ConfigNode& table, const std::string& prefix, Paths& out) {
    for (const auto& [key, child] : table.children) {
        const std::string path = prefix.empty() ? key : prefix + "." + key;
        if (child.kind == Kind::table)
            flatten(child, path, out);
        else
            out.emplace_back(path, &child);
    }
}

std::vector<Axis> read_axes(const ConfigNode& node) {
    TableReader reader(node, "axes");
    const ConfigNode *grid = reader.optional_node("grid"), *zip = reader.optional_node("zip"),
                     *list = reader.optional_node("list");
    reader.finish();
    std::vector<Axis> axes;
    if (grid != nullptr) add_values(*grid, "axes.grid", 0, axes);
    if (zip != nullptr) add_zip(*zip, "axes.zip", axes);
    if (list != nullptr) add_list(*list, "axes.list", axes);
    return axes;
}

std::vector<Axis> read_stage_axes(const ConfigNode& node, const std::string& name) {
    require_table(node, name);
    ConfigNode grid = node;
    std::erase_if(grid.children, [](const auto& child) {
        return child.first == "grid" || child.first == "zip" || child.first == "list";
    });
    std::vector<Axis> axes;
    add_values(grid, name, 0, axes);
    if (const ConfigNode* table = node.find("grid")) add_values(*table, name + ".grid", 0, axes);
    if (const ConfigNode* zip = node.find("zip")) add_zip(*zip, name + ".zip", axes);
    if (const ConfigNode* list = node.find("list")) add_list(*list, name + ".list", axes);
    return axes;
}

void pin(std::vector<Axis>& axes, const std::string& path, const ConfigNode& value) {
    const auto pinned = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.path == path; });
    if (pinned == axes.end()) return;
    if (pinned->together == 0) {
        pinned->values = {value};
        return;
    }
    std::vector<std::size_t> kept;
    std::string known;
    for (std::size_t i = 0; i < pinned->values.size(); ++i) {
        const Json own = to_json(pinned->values[i]);
        known += (known.empty() ? "" : ", ") + own.dump();
        if (own == to_json(value)) kept.push_back(i);
    }
    if (kept.empty())
        refuse_axes(value.place,
                    fmt::format("axis {} changes together with others, and no remaining combination has the value {}",
                                path, to_json(value).dump()),
                    "choose one of: " + known);
    const int together = pinned->together;
    for (Axis& axis : axes) {
        if (axis.together != together) continue;
        std::vector<ConfigNode> values;
        for (const std::size_t i : kept) values.push_back(axis.values[i]);
        axis.values = std::move(values);
    }
}

}  // namespace deft::sweeps
