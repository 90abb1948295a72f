#include "engine/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/repeated_key.h"

namespace deft::engine {

namespace {

constexpr std::uint64_t kLongestHeader = 100'000'000;

const char* type_name(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return "F32";
        case DType::f64:
            return "F64";
        case DType::bf16:
            return "BF16";
        case DType::f16:
            return "F16";
        case DType::i32:
            return "I32";
        case DType::i64:
            return "I64";
        case DType::u8:
            return "U8";
    }
    return "?";
}

DType type_of(const std::string& name, const std::filesystem::path& file) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64, DType::i32, DType::i64, DType::u8})
        if (name == type_name(dtype)) return dtype;
    if (name == "BOOL") return DType::u8;  // masks, which no reader of weights looks at
    throw Error(ErrorKind::io, fmt::format("{}: element type {} is not read", file.string(), name),
                "convert the tensor to F32, BF16, F16, F64, I32, I64, U8 or BOOL");
}

[[noreturn]] void malformed_safetensors(const std::filesystem::path& file, const std::string& why) {
    throw Error(ErrorKind::io, fmt::format("{}: not a whole safetensors file: {}", file.string(), why),
                "make the file again; nothing was loaded from it");
}

}  // namespace

SafetensorsOutput::SafetensorsOutput(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                                     const std::map<std::string, std::string>& metadata)
    : file_(file) {
    Json header = Json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    for (const auto& [name, tensor] : tensors) {
        if (header.contains(name)) throw std::logic_error("two tensors named " + name);
        const std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
        header[name] = {{"dtype", type_name(tensor.dtype)},
                        {"shape", shape},
                        {"data_offsets", {missing_, missing_ + tensor.bytes()}}};
        missing_ += tensor.bytes();
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();
    append({reinterpret_cast<const char*>(&length), sizeof length});
    append(text);
}

void SafetensorsOutput::append(std::string_view bytes) {
    hash_.add(bytes);
    file_.write(bytes);
}

void SafetensorsOutput::write(const void* bytes, std::int64_t count) {
    if (count > missing_) throw std::logic_error("more bytes than the header declares");
    missing_ -= count;
    append({static_cast<const char*>(bytes), static_cast<std::size_t>(count)});
}

std::string SafetensorsOutput::finish() {
    if (missing_ != 0) throw std::logic_error("fewer bytes than the header declares");
    file_.finish();
    return hash_.hex();
}

std::string write_safetensors(const std::filesystem::path& file, const std::vector<NamedTensor>& tensors,
                              const std::map<std::string, std::string>& metadata) {
    SafetensorsOutput out(file, tensors, metadata);
    for (const auto& [name, tensor] : tensors) out.write(tensor.data, tensor.bytes());
    return out.finish();
}

SafetensorsFile read_safetensors(const std::filesystem::path& file) {
    return read_safetensors(std::make_shared<const MappedFile>(file));
}

SafetensorsFile read_safetensors(std::shared_ptr<const MappedFile> mapped) {
    const std::filesystem::path& file = mapped->path();
    const std::string_view content(reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size());
    std::uint64_t length = 0;
    if (content.size() < sizeof length) malformed_safetensors(file, "shorter than its header length");
    std::memcpy(&length, content.data(), sizeof length);
    if (length > kLongestHeader || length > content.size() - sizeof length)
        malformed_safetensors(file, "header length beyond the file");
    const Json header = try_parse_json(content.substr(sizeof length, length));
    if (!header.is_object()) malformed_safetensors(file, "header is not a JSON object");
    if (const std::string twice = repeated_key(content.substr(sizeof length, length)); !twice.empty())
        malformed_safetensors(file, fmt::format("its header names {} twice", twice));

    SafetensorsFile result;
    const std::string_view data = content.substr(sizeof length + length);
    const auto data_size = static_cast<std::int64_t>(data.size());
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
    try {
        for (const auto& [name, entry] : header.items()) {
            if (name == "__metadata__") {
                result.metadata = entry.get<std::map<std::string, std::string>>();
                continue;
            }
            Tensor tensor;
            tensor.dtype = type_of(entry.at("dtype"), file);
            std::int64_t elements = 1;
            for (const std::int64_t extent : entry.at("shape").get<std::vector<std::int64_t>>()) {
                if (tensor.rank == 4) malformed_safetensors(file, name + " has more than four dimensions");
                if (extent < 0 || (extent > 0 && elements > data_size / extent))
                    malformed_safetensors(file, name + " has a bad shape");
                elements *= extent;
                tensor.shape[static_cast<std::size_t>(tensor.rank++)] = extent;
            }
            if (tensor.rank == 0) tensor.shape[static_cast<std::size_t>(tensor.rank++)] = 1;  // a scalar
            const auto [begin, end] = entry.at("data_offsets").get<std::pair<std::int64_t, std::int64_t>>();
            if (begin < 0 || end < begin || end > data_size || end - begin != tensor.bytes())
                malformed_safetensors(file, name + " has bad offsets");
            tensor.data =
                const_cast<char*>(data.data()) + begin;  // a Tensor points to what may be written; this may not
            ranges.emplace_back(begin, end);
            result.tensors[name] = tensor;
        }
    } catch (const Json::exception& error) {
        malformed_safetensors(file, error.what());
    }
    std::sort(ranges.begin(), ranges.end());
    std::int64_t covered = 0;
    for (const auto& [begin, end] : ranges) {
        if (begin != covered) malformed_safetensors(file, "tensors overlap or leave a hole");
        covered = end;
    }
    if (covered != data_size) malformed_safetensors(file, "bytes after the last tensor");
    result.file = std::move(mapped);
    return result;
}

}  // namespace deft::engine
