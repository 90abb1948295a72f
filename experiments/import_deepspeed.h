#pragma once
// DeepSpeed's data_efficiency configuration as techniques of a recipe. The schema is that of DeepSpeed's
// runtime/data_pipeline/config.py at edaa7221, and of the older top-level curriculum_learning section.

#include <string>
#include <vector>

namespace deft::experiments {

// A key whose meaning did not go over as it stood.
struct ImportNote {
    enum class What {
        ignored,        // it has no effect here
        not_converted,  // it had an effect, and nothing here corresponds to it
        changed,        // its equivalent here is written or works differently
        defect,         // what theirs does with it is known to be wrong
        unknown,        // no key of DeepSpeed's, which ignores it silently
        outside,        // of another section
    };
    std::string key;  // dotted path
    What what = What::ignored;
    std::string why;
};
const char* text_of(ImportNote::What what);

struct DeepSpeedImport {
    std::string toml;  // one [[case]] with [case.curriculum.METRIC], [case.random_ltd], [case.variable_batch]
    std::vector<ImportNote> notes;
};

// `json`: the text of a DeepSpeed configuration; `file` names it in messages. Errors: config, with the key's path: no
// JSON object, neither of the sections, missing keys, wrong types, values that theirs refuses, too.
DeepSpeedImport import_deepspeed(const std::string& json, const std::string& file);

}  // namespace deft::experiments
