#include "sweeps/driver/stored_results.h"

#include <filesystem>

#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/writer.h"
#include "sweeps/driver/announced_lock.h"

namespace deft::sweeps {

std::unique_ptr<results_db::Reader> stored_results(const DriverOptions& options) {
    const std::filesystem::path file = database_file(options.root);
    if (!std::filesystem::exists(file)) return nullptr;
    if (!options.dry_run)
        const results_db::Writer migrated(file, announced_lock());
    else if (results_db::is_without_schema(file))
        return nullptr;
    return std::make_unique<results_db::Reader>(file);
}

std::optional<std::string> stored_name(const results_db::Reader& reader, const Spec& spec) {
    for (const results_db::SweepHead& head : reader.sweeps())
        if (head.name == spec.name && head.spec_sha256 == spec.sha256) return results_db::full_name(head);
    return std::nullopt;
}

}  // namespace deft::sweeps
