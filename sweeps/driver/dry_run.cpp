#include "sweeps/driver/dry_run.h"

#include <optional>

#include "base/error.h"
#include "results_db/store.h"
#include "sweeps/driver/overview.h"

namespace deft::sweeps {

namespace {

bool is_done(const results_db::Reader& reader, const Point& point) {
    try {
        return reader.trial(point.config_hash).state == "ok";
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::missing) throw;
        return false;
    }
}

}  // namespace

RunSummary dry_run(const Spec& spec, const std::vector<Point>& points, const DriverOptions& options) {
    Overview overview;
    overview.slots = options.slots.size();
    overview.slots_text = describe_slots(options.slots, options.threads);
    overview.devices = devices_a_trial(options.slots.front(), options.threads);
    std::optional<results_db::Reader> reader;
    if (std::filesystem::exists(database_file(options.root))) reader.emplace(database_file(options.root));
    for (const Point& point : points) {
        if (!is_asked_for(point, options)) continue;
        ++overview.selected;
        if (reader && is_done(*reader, point))
            ++overview.done;
        else
            overview.flops_left += point.projection.flops;
    }
    Progress progress(options.progress, options.narration);
    for (const std::string& line : describe(spec, points, overview)) progress.warning(line);
    RunSummary summary;
    summary.already_done = static_cast<int>(overview.done);
    summary.left = static_cast<int>(overview.selected - overview.done);
    return summary;
}

}  // namespace deft::sweeps
