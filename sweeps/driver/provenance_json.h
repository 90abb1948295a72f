#pragma once
// Code and host as JSON, for what one program tells another of itself.

#include "base/json_fwd.h"
#include "results_db/store.h"

namespace deft::sweeps {

// Without the diff's text.
Json code_json(const results_db::Code& code);
Json host_json(const results_db::Host& host);

// Read back from any JSON, which others may have written: what is no text or number where it should be one is empty,
// 0 or "unknown".
results_db::Code code_of(const Json& json);
results_db::Host host_of(const Json& json);

}  // namespace deft::sweeps
