#include "engine/io/match_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace deft::engine {

namespace {

Tensor rows_of(const Tensor& weight, std::int64_t first, std::int64_t count) {
    Tensor rows = weight;
    const std::int64_t row_bytes = weight.dim(0) == 0 ? 0 : weight.bytes() / weight.dim(0);
    rows.data = static_cast<char*>(weight.data) + first * row_bytes;
    rows.shape[0] = count;
    return rows;
}

Tensor shaped(const Tensor& tensor, const std::vector<std::int64_t>& shape) {
    Tensor result = tensor;
    result.rank = static_cast<int>(shape.size());
    std::copy(shape.begin(), shape.end(), result.shape.begin());
    return result;
}

std::string text_of(const std::vector<std::int64_t>& shape) {
    return fmt::format("({})", fmt::join(shape, ", "));
}

bool is_of_weights(DType dtype) {
    return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16;
}

bool same_bytes(const FileTensor& a, const FileTensor& b) {
    if (a.tensor.shape_text() != b.tensor.shape_text()) return false;
    a.file->require_whole();
    b.file->require_whole();
    return std::memcmp(a.tensor.data, b.tensor.data, static_cast<std::size_t>(a.tensor.bytes())) == 0;
}

// own: the rows of our weight that the part is. A convolution's rows are turned one by one.
std::vector<StoredTensor> pieces_of(const Tensor& own, const StoredPart& part, const Tensor& from) {
    const std::int64_t rows = own.dim(0);
    if (part.as == StoredAs::transposed) return {{own, shaped(from, part.shape), true}};
    if (part.as != StoredAs::convolution) {
        Tensor same = own;
        same.data = from.data;
        same.dtype = from.dtype;
        return {{own, same, false}};
    }
    const std::int64_t channels = part.shape.at(1), pixels = part.shape.at(2) * part.shape.at(3);
    std::vector<StoredTensor> pieces;
    for (std::int64_t row = 0; row < rows; ++row)
        pieces.push_back({shaped(rows_of(own, row, 1), {pixels, channels}),
                          shaped(rows_of(shaped(from, {rows, channels * pixels}), row, 1), {channels, pixels}), true});
    return pieces;
}

// One match under way.
class Matching {
 public:
    Matching(const Transformer& model, const WeightFiles& files, const MatchRules& rules)
        : model_(model), files_(files), rules_(rules) {}

    MatchedWeights all() {
        for (const Parameter& parameter : model_.parameters().all()) match(parameter);
        sort_out_others();
        return std::move(matched_);
    }

 private:
    // The tensor under any of its names; all of them are accounted for. Null where there is none.
    const std::pair<const std::string, FileTensor>* find(const StoredPart& part) {
        const std::pair<const std::string, FileTensor>* first = nullptr;
        std::vector<std::string> names = spellings(files_.names, part.name);
        for (const std::string& other : part.doubles)
            for (const std::string& name : spellings(files_.names, other)) names.push_back(name);
        for (const std::string& name : names) {
            const auto found = files_.tensors.find(name);
            if (found == files_.tensors.end()) continue;
            used_.insert(name);
            if (first == nullptr)
                first = &*found;
            else if (!same_bytes(first->second, found->second))
                matched_.problems.push_back(
                    fmt::format("{} and {} are the same weight, and differ", first->first, name));
        }
        return first;
    }

    void match(const Parameter& parameter) {
        if (rules_.new_class_head && is_class_head(parameter.name)) {
            matched_.fresh.push_back(parameter.name);
            return;
        }
        const std::vector<StoredPart> parts = stored_parts(files_.names, model_.config(), own_weight(parameter));
        std::vector<std::string> missing;
        for (const StoredPart& part : parts) {
            const auto* found = find(part);
            if (found == nullptr)
                missing.push_back(part.name);
            else
                add(parameter, part, found->first, found->second);
        }
        if (parts.empty()) missing.push_back(parameter.name);
        if (missing.empty()) return;
        if (is_head(parameter.name) && !rules_.whole && missing.size() >= parts.size()) {
            matched_.fresh.push_back(parameter.name);
            return;
        }
        for (const std::string& name : missing) matched_.problems.push_back(name + " is missing");
    }

    void add(const Parameter& parameter, const StoredPart& part, const std::string& name, const FileTensor& found) {
        const Tensor& tensor = found.tensor;
        const std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
        if (!is_of_weights(tensor.dtype) || (rules_.unrounded && tensor.dtype != DType::f32)) {
            matched_.problems.push_back(fmt::format("{} is {}, and {} {} is wanted", name, tensor.shape_text(),
                                                    text_of(part.shape),
                                                    rules_.unrounded ? "f32" : "f32, bf16 or f16"));
            return;
        }
        if (!fits(parameter, part, name, shape)) return;
        matched_.sources.push_back({name, parts_of(parameter, part, tensor), found});
    }

    // This rank's share of a divided weight's part, which may be empty.
    static std::vector<StoredTensor> parts_of(const Parameter& parameter, const StoredPart& part,
                                              const Tensor& tensor) {
        if (!parameter.is_divided) return pieces_of(rows_of_part(parameter.value, part), part, tensor);
        const Share whole = elements_of_part(parameter, part);
        const Share own = common_part(whole, {parameter.first, parameter.first + parameter.value.numel()});
        if (own.size() == 0) return {};
        return {{parameter.value.part(own.begin - parameter.first, own.size()),
                 tensor.part(own.begin - whole.begin, own.size())}};
    }

    bool fits(const Parameter& parameter, const StoredPart& part, const std::string& name,
              const std::vector<std::int64_t>& shape) {
        if (shape == part.shape) return true;
        const bool is_table = parameter.name == "wpe.weight" && part.as == StoredAs::rows && shape.size() == 2 &&
                              shape[1] == part.shape.at(1);
        if (is_table && !rules_.whole && shape[0] > part.rows) {
            matched_.positions_cut = shape[0] - part.rows;
            return true;
        }
        if (is_of_experts(parameter.name) && part.expert < 0 && shape.size() == part.shape.size() &&
            std::equal(shape.begin() + 1, shape.end(), part.shape.begin() + 1))
            matched_.problems.push_back(
                fmt::format("{} has {} experts, and the model has {} there", name, shape[0], part.shape[0]));
        else if (is_table && !rules_.whole)
            matched_.problems.push_back(
                fmt::format("{} has {} positions, and the model has {}", name, shape[0], part.rows));
        else
            matched_.problems.push_back(
                fmt::format("{} is {}, and {} is wanted", name, text_of(shape), text_of(part.shape)));
        return false;
    }

    // The experts' shares lie one after another.
    static bool is_of_experts(const std::string& own_name) { return own_name.find(".experts.") != std::string::npos; }

    void sort_out_others() {
        for (const auto& [name, found] : files_.tensors) {
            if (used_.contains(name) || is_no_weight(files_.names, name)) continue;
            if (!rules_.whole && is_foreign_head(files_.names, name))
                matched_.unused.push_back(name);
            else
                matched_.problems.push_back(fmt::format("{} is not a weight of the model", name));
        }
    }

    const Transformer& model_;
    const WeightFiles& files_;
    const MatchRules& rules_;
    MatchedWeights matched_;
    std::set<std::string> used_;
};

}  // namespace

WeightFiles weight_files(const SafetensorsFile& file, WeightNames names) {
    WeightFiles files{names, {}};
    for (const auto& [name, tensor] : file.tensors) files.tensors[name] = {tensor, file.file};
    return files;
}

MatchedWeights match_weights(const Transformer& model, const WeightFiles& files, const MatchRules& rules) {
    return Matching(model, files, rules).all();
}

std::vector<std::string> nonfinite_weights(const MatchedWeights& matched) {
    std::vector<std::string> names;
    for (const MatchedWeights::Source& source : matched.sources)
        if (!all_finite(source.from.tensor, *source.from.file)) names.push_back(source.name);
    return names;
}

void read_weights(Exec& exec, const Transformer& model, const MatchedWeights& matched) {
    for (const MatchedWeights::Source& source : matched.sources)
        for (const StoredTensor& part : source.parts) read_in_pieces(exec, part, *source.from.file);
    model.parameters().refresh_rounded(exec);
}

}  // namespace deft::engine
