#include "results_db/bench_peaks.h"

#include "results_db/host_key.h"
#include "results_db/open.h"

namespace deft::results_db {

std::string last_peaks(const std::filesystem::path& file, const Host& host, int threads) {
    const std::unique_ptr<Connection> connection = open_for_reading(file);
    Statement query(
        *connection,
        "SELECT json_extract(s.env_json, '$.peaks') FROM bench_session s JOIN host h ON h.id = s.host_id"
        " WHERE h.fingerprint = ?1 AND s.mode = 'single' AND json_valid(s.env_json)"
        " AND json_type(s.env_json, '$.peaks') = 'object' AND json_valid(s.settings_json)"
        " AND json_extract(s.settings_json, '$.threads') = ?2 ORDER BY s.started_ms DESC, s.id DESC LIMIT 1");
    return query.bind(host_fingerprint(host), threads).step() ? query.text(0) : std::string();
}

}  // namespace deft::results_db
