#include "kernels/cuda/product_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"

namespace deft::kernels::cuda {

namespace {

constexpr const char* kSchema = "deft-product-table/1";

// Errors: std::invalid_argument, for a name of neither.
ProductType type_of_name(const std::string& name) {
    for (const ProductType type : {ProductType::f32, ProductType::bf16})
        if (product_type_name(type) == name) return type;
    throw std::invalid_argument("the type " + name);
}

// Errors: std::invalid_argument, likewise.
Epilogue epilogue_of_name(const std::string& name) {
    for (const Epilogue epilogue :
         {Epilogue::none, Epilogue::bias, Epilogue::gelu, Epilogue::gelu_keeping_pre, Epilogue::gelu_gradient})
        if (epilogue_name(epilogue) == name) return epilogue;
    throw std::invalid_argument("the epilogue " + name);
}

std::string hex_of(const std::array<std::uint64_t, 8>& words) {
    std::string text;
    for (const std::uint64_t word : words) text += fmt::format("{:016x}", word);
    return text;
}

// Errors: std::invalid_argument, for other than 128 hexadecimal digits.
std::array<std::uint64_t, 8> words_of(const std::string& hex) {
    constexpr std::size_t kDigits = 16;
    if (hex.size() != 8 * kDigits || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw std::invalid_argument("the words " + hex);
    std::array<std::uint64_t, 8> words{};
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = std::stoull(hex.substr(i * kDigits, kDigits), nullptr, 16);
    return words;
}

Json to_json(const TunedProduct& tuned) {
    const ProductKey& key = tuned.bucket;
    const ProductShape& s = key.shape;
    const LibraryAlgorithm& algorithm = tuned.algorithm;
    return {{"transposed", {s.a_transposed, s.b_transposed}},
            {"m_n_k", {s.m, s.n, s.k}},
            {"types", {product_type_name(s.a), product_type_name(s.b), product_type_name(s.c)}},
            {"epilogue", epilogue_name(s.epilogue)},
            {"leading", {key.lda, key.ldb, key.ldc}},
            {"alignments", {key.a_alignment, key.b_alignment, key.c_alignment, key.bias_alignment, key.pre_alignment}},
            {"workspace_bytes", key.workspace_bytes},
            {"words", hex_of(algorithm.words)},
            {"algorithm", algorithm.id},
            {"tile", algorithm.tile},
            {"stages", algorithm.stages},
            {"splits", algorithm.splits},
            {"reduction", algorithm.reduction},
            {"seconds", tuned.seconds}};
}

// Errors: those of the JSON library and std::invalid_argument.
TunedProduct tuned_of(const Json& json) {
    TunedProduct tuned;
    ProductKey& key = tuned.bucket;
    ProductShape& s = key.shape;
    s.a_transposed = json.at("transposed").at(0).get<bool>();
    s.b_transposed = json.at("transposed").at(1).get<bool>();
    const auto sizes = json.at("m_n_k").get<std::array<std::int64_t, 3>>();
    s.m = sizes[0], s.n = sizes[1], s.k = sizes[2];
    const auto types = json.at("types").get<std::array<std::string, 3>>();
    s.a = type_of_name(types[0]), s.b = type_of_name(types[1]), s.c = type_of_name(types[2]);
    s.epilogue = epilogue_of_name(json.at("epilogue").get<std::string>());
    const auto leading = json.at("leading").get<std::array<std::int64_t, 3>>();
    key.lda = leading[0], key.ldb = leading[1], key.ldc = leading[2];
    const auto aligned = json.at("alignments").get<std::array<int, 5>>();
    key.a_alignment = aligned[0], key.b_alignment = aligned[1], key.c_alignment = aligned[2];
    key.bias_alignment = aligned[3], key.pre_alignment = aligned[4];
    key.workspace_bytes = json.at("workspace_bytes").get<std::size_t>();
    LibraryAlgorithm& algorithm = tuned.algorithm;
    algorithm.words = words_of(json.at("words").get<std::string>());
    algorithm.id = json.at("algorithm").get<int>();
    algorithm.tile = json.at("tile").get<int>();
    algorithm.stages = json.at("stages").get<int>();
    algorithm.splits = json.at("splits").get<int>();
    algorithm.reduction = json.at("reduction").get<int>();
    tuned.seconds = json.at("seconds").get<double>();
    return tuned;
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
    throw Error(ErrorKind::config, Place{file.string()}, why,
                fmt::format("tune again on this card with this library, or unset {}", kProductTableVariable),
                "nothing was trained or measured");
}

std::string chosen_file() {
    const char* const file = std::getenv(kProductTableVariable);
    return file == nullptr ? "" : file;
}

}  // namespace

const LibraryAlgorithm* find_tuned(const ProductTable& table, const ProductKey& bucket) {
    const auto found = std::find_if(table.products.begin(), table.products.end(),
                                    [&](const TunedProduct& tuned) { return tuned.bucket == bucket; });
    return found == table.products.end() ? nullptr : &found->algorithm;
}

void write_product_table(const std::filesystem::path& file, const ProductTable& table) {
    Json json = {{"schema", kSchema}, {"gpu", table.gpu}, {"library", table.library}, {"products", Json::array()}};
    for (const TunedProduct& tuned : table.products) json["products"].push_back(to_json(tuned));
    json["sha256"] = sha256(canonical_json(json));
    write_file_atomically(file, json_text(json, 1) + "\n");
}

ProductTable read_product_table(const std::filesystem::path& file, const std::string& gpu, const std::string& library) {
    std::string problem;
    Json json = try_parse_object(read_file(file), problem);
    if (!problem.empty()) refuse(file, "the table of GPU products is damaged: " + problem);
    const auto text_at = [&](const char* key) {
        return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
    };
    if (text_at("schema") != kSchema)
        refuse(file, fmt::format("the schema is \"{}\", where \"{}\" is a table of GPU products", text_at("schema"),
                                 kSchema));
    ProductTable table{text_at("gpu"), text_at("library"), {}};
    const std::string stated = text_at("sha256");
    json.erase("sha256");
    if (stated != sha256(canonical_json(json)))
        refuse(file, "the table of GPU products is damaged: its sha256 is that of other contents");
    if (table.gpu != gpu)
        refuse(file, fmt::format("the table of GPU products is for {}, and this card is {}", table.gpu, gpu));
    if (table.library != library)
        refuse(file, fmt::format("the table of GPU products is for cuBLASLt {}, and this library is {}", table.library,
                                 library));
    try {
        for (const Json& tuned : json.at("products")) table.products.push_back(tuned_of(tuned));
    } catch (const std::exception& error) {
        refuse(file, std::string("the table of GPU products is damaged: ") + error.what());
    }
    return table;
}

std::optional<ProductTable> chosen_product_table(const std::string& gpu, const std::string& library) {
    const std::string file = chosen_file();
    if (file.empty()) return std::nullopt;
    return read_product_table(file, gpu, library);
}

std::string product_table_identity() {
    const std::string file = chosen_file();
    try {
        return file.empty() ? "" : sha256_file(file);
    } catch (const Error&) {
        return "unreadable";
    }
}

}  // namespace deft::kernels::cuda
