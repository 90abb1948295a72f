#pragma once
// Identity of a host: machines count as one where no known property separates them in speed.

#include <cstdint>
#include <string>

#include "results_db/rows.h"

namespace deft::results_db {

// sha256 of architecture, processor, cores, threads, memory roughly, instruction sets and GPUs. A kernel's update, a
// few megabytes more or less and a container's name make no other host; a name that its owner gave does. Where the
// processor is unknown, as for some imported benchmarks, only the host's name identifies it.
std::string host_fingerprint(const Host& host);

// Memory as it is sold: the next of 1, 1.5, 2, 3, 4, 6, ... GiB above what a system says it has, which is a little
// less.
std::int64_t rounded_memory(std::int64_t bytes);

// The fields that may differ between two hosts of one fingerprint: {"hostname", "kernel", "os", "mem_bytes", "extra"};
// "extra" is its extra_json, with the driver's version. Attempts of programs before have no "extra" of their
// own.
std::string machine_json(const Host& host);
// Lays that over the host; what is missing or of another type stays as it was.
void override_machine(Host& host, const std::string& machine_json);

}  // namespace deft::results_db
