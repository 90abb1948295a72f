// experiments/import_deepspeed.h: what is converted parses as TOML

#include "experiments/import_deepspeed.h"

#include "base/config.h"
#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    experiments::DeepSpeedImport imported;
    try {
        imported = experiments::import_deepspeed(std::string(fuzz::view(data, size)), "x.json");
    } catch (const Error&) {
        return 0;
    }
    try {
        parse_toml(imported.toml, "x.toml");
    } catch (const Error& error) {
        throw std::logic_error(error.what());
    }
    return 0;
}

std::vector<std::string> fuzz::seeds() {
    return {R"({"data_efficiency": {"data_sampling": {"num_workers": 4, "curriculum_learning": {"enabled": true,
        "curriculum_metrics": {"voc": {"difficulty_type": "percentile", "clustering_type": "schedule_based",
        "min_difficulty": 1, "max_difficulty": 100, "schedule_type": "fixed_root", "schedule_config":
        {"total_curriculum_step": 110, "difficulty_step": 1, "root_degree": 2}}, "mine": {"index_to_sample_path": "p",
        "difficulty_type": "value", "clustering_type": "schedule_based", "min_difficulty": 1, "max_difficulty": 90,
        "schedule_type": "fixed_discrete", "schedule_config": {"difficulty": [1, 20, 90], "max_step": [30, 60]}}}},
        "dynamic_batching": {"enabled": true, "max_tokens": 900}}}})",
            R"({"data_efficiency": {"data_routing": {"random_ltd": {"enabled": true, "random_ltd_layer_id": [1, 2, 5],
        "total_layer_num": 8, "random_ltd_schedule": {"min_value": 16, "max_value": 64, "schedule_type": "fixed_linear",
        "schedule_config": {"require_steps": 200, "seq_per_step": 16}}}}}, "curriculum_learning": {"enabled": true,
        "curriculum_type": "seqlen", "min_difficulty": 8, "max_difficulty": 64, "schedule_type": "fixed_linear",
        "schedule_config": {"total_curriculum_step": 60, "difficulty_step": 8}}})"};
}
