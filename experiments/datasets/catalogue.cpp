#include "experiments/datasets/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/installed_files.h"
#include "base/suggestion.h"
#include "base/table_reader.h"
#include "experiments/datasets/find_file.h"

namespace deft::experiments {

namespace {

bool is_sha256(const std::string& text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Inside a folder, wherever that is: a path that leads out of it is an attack or a mistake.
bool stays_inside(const std::string& path) {
    const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
    return !path.empty() && normal.is_relative() && *normal.begin() != "..";
}

const ConfigNode& required_array(TableReader& table, const char* key) {
    const ConfigNode* node = table.optional_node(key);
    if (node == nullptr || node->kind != ConfigNode::Kind::array || node->items.empty())
        table.refuse(key, "is missing: give at least one");
    return *node;
}

CatalogueFile parse_file(TableReader table) {
    CatalogueFile file;
    file.path = table.required<std::string>("path");
    file.sha256 = table.required<std::string>("sha256");
    table.optional("url", file.url);
    table.optional("bytes", file.bytes);
    table.optional("split", file.split);
    table.finish();
    if (!stays_inside(file.path)) table.refuse("path", "must lead to a file inside a mirror folder");
    if (!file.url.empty() && !file.url.starts_with("https://")) table.refuse("url", "must begin with https://");
    if (file.bytes < 0) table.refuse("bytes", "must not be negative");
    if (file.sha256 != "unknown" && !is_sha256(file.sha256))
        table.refuse("sha256", "must be 64 lower-case hex digits or \"unknown\"");
    table.require_one_of("split", file.split, {"", "train", "valid", "test"});
    return file;
}

std::vector<std::string> readers_of(const std::string& kind) {
    if (kind == "corpus") return {"text", "jsonl", "lines", "paragraphs", "wikitext"};
    if (kind == "images") return {"idx", "cifar10", "cifar100"};
    return {"files"};
}

// A file of images, then that of their labels, again and again.
bool are_pairs(const std::vector<CatalogueFile>& files) {
    if (files.size() % 2 != 0) return false;
    for (std::size_t i = 0; i < files.size(); i += 2)
        if (files[i].split != files[i + 1].split) return false;
    return true;
}

CatalogueForm parse_form(TableReader table, const std::string& kind) {
    CatalogueForm form;
    form.name = table.required<std::string>("name");
    form.reader = table.required<std::string>("reader");
    table.optional("note", form.note);
    if (kind == "images") {
        form.images = table.required<std::int64_t>("images");
        table.require_at_least("images", form.images, 2);
    }
    for (const ConfigNode& node : required_array(table, "files").items)
        form.files.push_back(parse_file(TableReader(node, table.name("files"))));
    table.finish();
    // A split is stored as one run of documents, and divided documents would take in the others.
    std::vector<std::string> splits;
    for (const CatalogueFile& file : form.files)
        if (splits.empty() || splits.back() != file.split) splits.push_back(file.split);
    std::vector<std::string> once = splits;
    std::sort(once.begin(), once.end());
    const bool mixed = once.size() > 1 && once.front().empty();
    if (mixed || std::adjacent_find(once.begin(), once.end()) != once.end())
        table.refuse("files", "must name the split of all files or of none, those of a split one after another");
    table.require_one_of("reader", form.reader, readers_of(kind));
    if (form.reader == "idx" && !are_pairs(form.files))
        table.refuse("files", "must be pairs of one split each: a file of images, then that of their labels");
    if (kind == "images" && splits != std::vector<std::string>{""} && once != std::vector<std::string>{"test", "train"})
        table.refuse("files", "must be of split train and of test, or of none");
    return form;
}

CatalogueEntry parse_entry(const std::string& name, const ConfigNode& node) {
    TableReader table(node, name);
    CatalogueEntry entry;
    entry.name = name;
    entry.place = node.place;
    entry.kind = table.required<std::string>("kind");
    entry.title = table.required<std::string>("title");
    entry.licence = table.required<std::string>("licence");
    entry.source = table.required<std::string>("source");
    table.optional("supply", entry.supply);
    table.require_one_of("kind", entry.kind, {"corpus", "task", "tokenizer", "images"});
    if (entry.kind == "images")
        for (const auto& [key, extent] : {std::pair{"height", &entry.height},
                                          {"width", &entry.width},
                                          {"channels", &entry.channels},
                                          {"classes", &entry.classes}}) {
            *extent = table.required<std::int64_t>(key);
            table.require_at_least(key, *extent, 1);
        }
    for (const ConfigNode& form : required_array(table, "forms").items)
        entry.forms.push_back(parse_form(TableReader(form, table.name("forms")), entry.kind));
    table.finish();
    return entry;
}

}  // namespace

std::vector<CatalogueEntry> parse_catalogue(const std::filesystem::path& file) {
    const ConfigNode root = parse_toml_file(file);
    std::vector<CatalogueEntry> entries;
    for (const auto& [name, node] : root.children) entries.push_back(parse_entry(name, node));
    return entries;
}

std::vector<CatalogueEntry> load_catalogue() {
    return parse_catalogue(installed_file("experiments/datasets.toml"));
}

CatalogueEntry catalogue_entry(const std::string& name) {
    std::vector<std::string> names;
    for (CatalogueEntry& entry : load_catalogue()) {
        if (entry.name == name) return entry;
        names.push_back(entry.name);
    }
    throw Error(ErrorKind::config, fmt::format("no data set is called \"{}\"", name),
                suggestion(name, names, "deft data list shows what there is"));
}

const CatalogueForm& form_at_hand(const CatalogueEntry& entry, const std::filesystem::path& base_folder) {
    for (const CatalogueForm& form : entry.forms)
        if (std::all_of(form.files.begin(), form.files.end(), [&](const CatalogueFile& file) {
                return look_for_data_file(file.path, base_folder).has_value();
            }))
            return form;
    return entry.forms.front();
}

}  // namespace deft::experiments
