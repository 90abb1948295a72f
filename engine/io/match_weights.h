#pragma once
// A model's weights and the tensors of files that hold them, found by name.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "engine/io/safetensors.h"
#include "engine/io/tensor_pieces.h"
#include "engine/io/weight_names.h"
#include "engine/models/transformer.h"

namespace deft::engine {

struct FileTensor {
    Tensor tensor;  // a view into the file, to be read only
    std::shared_ptr<const MappedFile> file;
};

// All tensors of the files of one model.
struct WeightFiles {
    WeightNames names = WeightNames::own;
    std::map<std::string, FileTensor> tensors;  // by the files' names for them

    bool has(const std::string& name) const { return tensors.contains(name); }
};
WeightFiles weight_files(const SafetensorsFile& file, WeightNames names);

struct MatchRules {
    bool whole = false;           // every weight is in the files, and every tensor of theirs is one of the model's
    bool unrounded = false;       // and f32, as training goes on from
    bool new_class_head = false;  // the head of classes is for another task: the files' is left
};

// Where each weight comes from, found without reading a value.
struct MatchedWeights {
    struct Source {
        std::string name;                 // the file's
        std::vector<StoredTensor> parts;  // `to`: the model's
        FileTensor from;                  // the complete tensor; a table of positions may be truncated
    };
    std::vector<Source> sources;
    std::vector<std::string> fresh;   // the model's weights that no file has: of heads alone, unless they are a problem
    std::vector<std::string> unused;  // the files' tensors of heads that the model has not
    std::int64_t positions_cut = 0;   // rows of the files' table after the model's last
    std::vector<std::string> problems;  // missing, misshapen and foreign tensors, and such as contradict each other
};
MatchedWeights match_weights(const Transformer& model, const WeightFiles& files, const MatchRules& rules);

// Which of the files' tensors hold values that no weight may have: infinities and NaN. Errors: io.
std::vector<std::string> nonfinite_weights(const MatchedWeights& matched);

// The model's weights = the files'. Errors: io, for a file that is cut short meanwhile; device.
void read_weights(Exec& exec, const Transformer& model, const MatchedWeights& matched);

}  // namespace deft::engine
