#include "sweeps/driver/announced_lock.h"

#include <fmt/format.h>

namespace deft::sweeps {

std::string watch_notice(const std::string& machine, double seconds) {
    return fmt::format("{} may be writing here; waiting {:.0f} s to see whether it does", machine, seconds);
}

results_db::LockOptions announced_lock(std::FILE* out) {
    results_db::LockOptions options;
    options.on_watch = [out](const std::string& machine, double seconds) {
        fmt::print(out, "deft: {}\n", watch_notice(machine, seconds));
    };
    return options;
}

}  // namespace deft::sweeps
