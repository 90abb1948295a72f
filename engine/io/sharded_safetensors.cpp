#include "engine/io/sharded_safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/json.h"
#include "base/repeated_key.h"
#include "engine/io/write_weights.h"

namespace deft::engine {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_shards(const fs::path& file, const std::string& why) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", file.string(), why), "copy the model again, with all of its files",
                "everything");
}

void add_file(const fs::path& file, std::map<std::string, FileTensor>& tensors,
              std::vector<std::shared_ptr<const MappedFile>>& read) {
    const SafetensorsFile opened = read_safetensors(file);
    read.push_back(opened.file);
    for (const auto& [name, tensor] : opened.tensors)
        if (!tensors.try_emplace(name, FileTensor{tensor, opened.file}).second)
            refuse_shards(file, fmt::format("{} is in another file of the model too", name));
}

}  // namespace

std::map<std::string, std::vector<std::string>> parse_shard_index(const std::string& text, const fs::path& file) {
    std::string problem;
    const Json index = try_parse_object(text, problem);
    if (index.is_discarded()) refuse_shards(file, problem);
    if (!index.contains("weight_map") || !index.at("weight_map").is_object())
        refuse_shards(file, "it has no weight_map, a JSON object of file names");
    if (const std::string twice = repeated_key(text); !twice.empty())
        refuse_shards(file, fmt::format("it names {} twice", twice));
    std::map<std::string, std::vector<std::string>> shards;
    for (const auto& [tensor, shard] : index.at("weight_map").items()) {
        if (!shard.is_string()) refuse_shards(file, fmt::format("the file of {} is not a file name", tensor));
        const auto name = shard.get<std::string>();
        if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
            name.find('\0') != std::string::npos)
            refuse_shards(file, fmt::format("the file of {} is not one beside the index", tensor));
        shards[name].push_back(tensor);
    }
    if (shards.empty()) refuse_shards(file, "its weight_map is empty");
    return shards;
}

std::map<std::string, FileTensor> open_safetensors(const fs::path& folder,
                                                   std::vector<std::shared_ptr<const MappedFile>>& read) {
    std::map<std::string, FileTensor> tensors;
    const fs::path single = folder / kModelFile, index = folder / kModelIndex;
    if (fs::exists(single)) {
        add_file(single, tensors, read);
        return tensors;
    }
    if (!fs::exists(index))
        throw Error(ErrorKind::io, fmt::format("{} has neither {} nor {}", folder.string(), kModelFile, kModelIndex),
                    fs::exists(folder / "pytorch_model.bin")
                        ? "save it as safetensors: model.save_pretrained(FOLDER, safe_serialization=True)"
                        : "name a folder as Hugging Face's save_pretrained() leaves it",
                    "everything");
    auto mapped = std::make_shared<const MappedFile>(index);
    const std::span<const std::byte> bytes = mapped->bytes();
    const auto shards = parse_shard_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, index);
    read.push_back(std::move(mapped));
    std::vector<std::string> absent;
    for (const auto& [name, names] : shards)
        if (!fs::exists(folder / name)) absent.push_back(name);
    if (!absent.empty())
        refuse_shards(index, fmt::format("not all of its files are there: no {}", fmt::join(absent, ", ")));
    std::size_t placed = 0;
    for (const auto& [name, names] : shards) {
        add_file(folder / name, tensors, read);
        placed += names.size();
        for (const std::string& tensor : names)
            if (!tensors.contains(tensor) || tensors.at(tensor).file != read.back())
                refuse_shards(folder / name, fmt::format("{} is not in it, where the index has it", tensor));
    }
    if (placed != tensors.size())
        refuse_shards(index, fmt::format("its files hold {} tensors, and it names {}", tensors.size(), placed));
    return tensors;
}

}  // namespace deft::engine
