#include "engine/io/weight_names.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "engine/io/weight_name_tables.h"

namespace deft::engine {

namespace {

// The values of #, * and @ in a name that matches the pattern.
struct Filling {
    std::string layer, kind, expert;
};

bool matches(std::string_view pattern, std::string_view name, Filling& filling) {
    while (!pattern.empty()) {
        if (pattern.front() == '#') {
            const std::size_t end = std::min(name.find('.'), name.size());
            if (end == 0 || !std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(end),
                                         [](char c) { return c >= '0' && c <= '9'; }))
                return false;
            filling.layer = name.substr(0, end);
            name.remove_prefix(end);
            pattern.remove_prefix(1);
        } else if (pattern.front() == '*') {
            filling.kind = name;
            return name == "weight" || name == "bias";
        } else {
            if (name.empty() || name.front() != pattern.front()) return false;
            name.remove_prefix(1);
            pattern.remove_prefix(1);
        }
    }
    return name.empty();
}

std::string filled(std::string_view pattern, const Filling& filling) {
    std::string name;
    for (const char c : pattern) {
        if (c == '#')
            name += filling.layer;
        else if (c == '*')
            name += filling.kind;
        else if (c == '@')
            name += filling.expert;
        else
            name += c;
    }
    return name;
}

// Rows of each of `count` tensors that share the `rows` of a weight: queries, keys and values, or equal halves of a
// gated feed-forward part.
std::vector<std::int64_t> shares(const TransformerConfig& model, std::string_view layer, std::int64_t rows,
                                 std::size_t count) {
    if (count == 1) return {rows};
    if (count == 2) return {rows / 2, rows - rows / 2};
    std::size_t number = 0;
    std::from_chars(layer.data(), layer.data() + layer.size(), number);
    const AttentionConfig& attention = model.blocks.at(number).attention;
    const std::int64_t of_keys = attention.kv_heads * attention.head_size(model.width);
    return {rows - 2 * of_keys, of_keys, of_keys};
}

std::vector<std::int64_t> stored_shape(const TransformerConfig& model, const std::vector<std::int64_t>& own,
                                       std::int64_t rows, StoredAs as) {
    std::vector<std::int64_t> shape = own;
    shape[0] = rows;
    switch (as) {
        case StoredAs::rows:
            return shape;
        case StoredAs::transposed:
            return {shape.at(1), shape[0]};
        case StoredAs::batched:
            return {1, shape[0], shape.at(1)};
        case StoredAs::token:
            return {1, 1, shape.at(1)};
        case StoredAs::convolution:
            break;
    }
    const PatchConfig& patches = model.input.patches.value();
    return {shape[0], patches.channels, patches.size, patches.size};
}

// Linear weights are stored as (in, out) in Hugging Face's GPT-2; those of experts, (E, out, in), as they are.
StoredAs layout_of_own(const OwnWeight& weight) {
    const bool is_linear = weight.kind == ParameterKind::matrix || weight.kind == ParameterKind::residual;
    return is_linear && weight.shape.size() == 2 ? StoredAs::transposed : StoredAs::rows;
}

std::string with_end(const std::string& name, std::string_view end, std::string_view other) {
    return name.substr(0, name.size() - end.size()).append(other);
}

void add_doubles(WeightNames names, const TransformerConfig& model, const OwnWeight& weight, StoredPart& part) {
    const bool is_tied = model.head && model.head->tied;
    if (weight.name == "wte.weight" && is_tied)
        part.doubles.assign(name_table(names).of_tied_head.begin(), name_table(names).of_tied_head.end());
    if (names != WeightNames::bert) return;
    // A decoder of older files has its own bias, which is the head's; a classifier takes the place of the
    // order of two sentences where that was trained last.
    if (weight.name == "lm_head.bias") part.doubles.emplace_back("cls.predictions.decoder.bias");
    if (weight.name == "class_head.weight") part.doubles.emplace_back("classifier.weight");
    if (weight.name == "class_head.bias") part.doubles.emplace_back("classifier.bias");
    if (!model.head && is_class_head(weight.name)) std::swap(part.name, part.doubles.front());
}

}  // namespace

const char* family_name(WeightNames names) {
    return name_table(names).family;
}

OwnWeight own_weight(const Parameter& parameter) {
    const Tensor whole = parameter.whole();
    return {parameter.name, parameter.kind, {whole.shape.begin(), whole.shape.begin() + whole.rank}};
}

std::vector<StoredPart> stored_parts(WeightNames names, const TransformerConfig& model, const OwnWeight& weight) {
    const auto one = [&](const std::string& name, StoredAs as) {
        StoredPart part{name, {}, 0, weight.shape.at(0), as, stored_shape(model, weight.shape, weight.shape[0], as)};
        return std::vector<StoredPart>{std::move(part)};
    };
    if (names == WeightNames::plain) return one(weight.name, StoredAs::rows);
    if (names == WeightNames::own)
        return one((weight.name.starts_with("lm_head.") ? "" : "transformer.") + weight.name, layout_of_own(weight));
    Filling filling;
    const NameTable& table = name_table(names);
    const auto row = std::find_if(table.rows.begin(), table.rows.end(), [&](const NameRow& candidate) {
        return matches(candidate.ours, weight.name, filling);
    });
    if (row == table.rows.end() && is_head(weight.name)) return {};
    if (row == table.rows.end()) throw std::logic_error(std::string(table.family) + " has no name for " + weight.name);
    std::vector<StoredPart> parts;
    const bool by_expert = std::string_view(row->theirs[0]).find('@') != std::string_view::npos;
    const std::vector<std::int64_t> shape(weight.shape.begin() + (by_expert ? 1 : 0), weight.shape.end());
    const std::vector<std::int64_t> rows = shares(model, filling.layer, shape.at(0), row->theirs.size());
    for (std::int64_t expert = 0; expert < (by_expert ? weight.shape[0] : 1); ++expert) {
        filling.expert = std::to_string(expert);
        std::int64_t first = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            StoredPart part{filled(row->theirs[i], filling),
                            {},
                            first,
                            rows[i],
                            row->as,
                            stored_shape(model, shape, rows[i], row->as),
                            by_expert ? expert : -1};
            add_doubles(names, model, weight, part);
            parts.push_back(std::move(part));
            first += rows[i];
        }
    }
    return parts;
}

Tensor rows_of_part(const Tensor& weight, const StoredPart& part) {
    Tensor rows = part.expert < 0 ? weight : weight.slice(part.expert);
    const std::int64_t row_bytes = rows.dim(0) == 0 ? 0 : rows.bytes() / rows.dim(0);
    rows.data = static_cast<char*>(rows.data) + part.first_row * row_bytes;
    rows.shape[0] = part.rows;
    return rows;
}

Share elements_of_part(const Parameter& parameter, const StoredPart& part) {
    if (part.as != StoredAs::rows)
        throw std::logic_error("a file holds the experts of " + parameter.name + " transposed");
    const Tensor& value = parameter.value;
    const std::int64_t of_expert = value.numel() / value.dim(0);
    if (part.expert < 0) return {0, parameter.experts * of_expert};
    const std::int64_t row = of_expert / value.dim(1), first = part.expert * of_expert + part.first_row * row;
    return {first, first + part.rows * row};
}

std::vector<std::string> spellings(WeightNames names, const std::string& name) {
    std::vector<std::string> all = {name};
    const std::string_view prefix = name_table(names).prefix;
    if (!prefix.empty() && name.starts_with(prefix)) all.push_back(name.substr(prefix.size()));
    if (names != WeightNames::bert) return all;
    for (std::size_t i = 0, count = all.size(); i < count; ++i) {
        if (all[i].ends_with("LayerNorm.weight")) all.push_back(with_end(all[i], "weight", "gamma"));
        if (all[i].ends_with("LayerNorm.bias")) all.push_back(with_end(all[i], "bias", "beta"));
    }
    return all;
}

bool is_class_head(std::string_view own_name) {
    return own_name.starts_with("class_head.");
}

bool is_head(std::string_view own_name) {
    return own_name.starts_with("lm_head.") || own_name.starts_with("pooler.") || is_class_head(own_name);
}

bool is_foreign_head(WeightNames names, std::string_view name) {
    const NameTable& table = name_table(names);
    if (name.starts_with(table.prefix)) name.remove_prefix(std::string_view(table.prefix).size());
    return std::any_of(table.heads.begin(), table.heads.end(),
                       [&](const char* head) { return name.starts_with(head); });
}

bool is_no_weight(WeightNames names, std::string_view name) {
    const NameTable& table = name_table(names);
    return std::any_of(table.no_weights.begin(), table.no_weights.end(),
                       [&](const char* end) { return name.ends_with(end); });
}

WeightNames names_in_file(WeightNames family, const std::function<bool(const std::string&)>& has) {
    if (family == WeightNames::own || family == WeightNames::plain || family == WeightNames::gpt2) return family;
    const bool is_own = has("transformer.wte.weight") || has("transformer.patch.weight");
    return is_own ? WeightNames::own : family;
}

}  // namespace deft::engine
