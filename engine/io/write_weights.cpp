#include "engine/io/write_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "engine/io/tensor_pieces.h"

namespace deft::engine {

namespace {

// A tensor to be written, and the rows of the weight that it is.
struct Written {
    NamedTensor stored;
    Tensor rows;  // empty: of a divided weight, of which
    StoredAs as = StoredAs::rows;
    const Parameter* divided = nullptr;
    Share elements = {};
};

std::vector<Written> tensors_of(const Transformer& model, WeightNames names, DType dtype) {
    std::vector<Written> tensors;
    for (const Parameter& parameter : model.parameters().all())
        for (const StoredPart& part : stored_parts(names, model.config(), own_weight(parameter))) {
            Written written;
            if (parameter.is_divided) {
                written.divided = &parameter;
                written.elements = elements_of_part(parameter, part);
            } else {
                written.rows = rows_of_part(parameter.value, part);
            }
            written.as = part.as;
            Tensor stored;
            stored.dtype = dtype;
            for (const std::int64_t extent : part.shape) stored.shape[static_cast<std::size_t>(stored.rank++)] = extent;
            written.stored = {part.name, stored};
            tensors.push_back(std::move(written));
        }
    return tensors;
}

void write_tensor_of(Exec& exec, const Written& written, const WriteDivided& write_divided, SafetensorsOutput& out) {
    const DType dtype = written.stored.tensor.dtype;
    if (written.divided != nullptr) return write_divided(*written.divided, written.elements, {dtype}, out);
    if (written.as != StoredAs::convolution)
        return write_in_pieces(exec, written.rows, {dtype, written.as == StoredAs::transposed}, out);
    const std::int64_t channels = written.stored.tensor.dim(1);
    const std::int64_t pixels = written.stored.tensor.dim(2) * written.stored.tensor.dim(3);
    for (std::int64_t row = 0; row < written.rows.dim(0); ++row)
        write_in_pieces(exec, written.rows.slice(row).view({pixels, channels}), {dtype, true}, out);
}

std::string write_file(Exec& exec, const std::vector<Written>& tensors, const WriteDivided& write_divided,
                       const std::filesystem::path& file) {
    std::vector<NamedTensor> header;
    for (const Written& written : tensors) header.push_back(written.stored);
    SafetensorsOutput out(file, header, {{"format", "pt"}});
    for (const Written& written : tensors) try {
            write_tensor_of(exec, written, write_divided, out);
        } catch (const std::range_error& error) {
            throw Error(ErrorKind::config, fmt::format("{} has {}", written.stored.name, error.what()),
                        "choose bf16 or f32");
        }
    return out.finish();
}

std::vector<std::vector<Written>> shards_of(std::vector<Written> tensors, std::int64_t shard_bytes) {
    std::vector<std::vector<Written>> shards(1);
    std::int64_t bytes = 0;
    for (Written& written : tensors) {
        const std::int64_t own = written.stored.tensor.bytes();
        if (shard_bytes > 0 && bytes > 0 && bytes + own > shard_bytes) {
            shards.emplace_back();
            bytes = 0;
        }
        bytes += own;
        shards.back().push_back(std::move(written));
    }
    return shards;
}

}  // namespace

std::map<std::string, std::string> write_weights(Exec& exec, const Transformer& model, WeightNames names, DType dtype,
                                                 const std::filesystem::path& folder, std::int64_t shard_bytes,
                                                 const WriteDivided& write_divided) {
    const std::vector<std::vector<Written>> shards = shards_of(tensors_of(model, names, dtype), shard_bytes);
    if (shards.size() == 1) return {{kModelFile, write_file(exec, shards[0], write_divided, folder / kModelFile)}};
    std::map<std::string, std::string> hashes;
    Json of_tensor = Json::object();
    std::int64_t total = 0;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const std::string file = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
        hashes[file] = write_file(exec, shards[i], write_divided, folder / file);
        for (const Written& written : shards[i]) {
            of_tensor[written.stored.name] = file;
            total += written.stored.tensor.bytes();
        }
    }
    const Json index = {{"metadata", {{"total_size", total}}}, {"weight_map", of_tensor}};
    const std::string text = index.dump(2) + "\n";
    write_file_atomically(folder / kModelIndex, text);
    hashes[kModelIndex] = sha256(text);
    return hashes;
}

}  // namespace deft::engine
