#pragma once
// Which machines count as one: those that nothing known of them tells apart in speed.

#include <cstdint>
#include <string>

#include "results_db/store.h"

namespace deft::results_db {

// sha256 of architecture, processor, cores, threads, memory roughly, instruction sets and GPUs. A kernel's update, a
// few megabytes more or less and a container's name make no other host; a name that its owner gave does. Where the
// processor is unknown, as of some imported benchmarks, the host's name is all there is to tell hosts apart.
std::string host_fingerprint(const Host& host);

// Memory as it is sold: the next of 1, 1.5, 2, 3, 4, 6, ... GiB above what a system says it has, which is a little
// less.
std::int64_t rounded_memory(std::int64_t bytes);

// Of a host what may differ between two of one fingerprint: {"hostname", "kernel", "os", "mem_bytes", "extra"}, of
// which the last is its extra_json, with the driver's version. Attempts of programs before have no "extra" of their
// own.
std::string machine_json(const Host& host);
// Lays that over the host; what is missing or of another type stays as it was.
void lay_machine_over(Host& host, const std::string& machine_json);

}  // namespace deft::results_db
