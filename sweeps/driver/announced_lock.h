#pragma once
// The lock of a command that writes a root's database: it says when it has to wait.

#include <cstdio>
#include <string>

#include "results_db/writer_lock.h"

namespace deft::sweeps {

// "box2 may be writing here; waiting 60 s to see whether it does"
std::string watch_notice(const std::string& machine, double seconds);

results_db::LockOptions announced_lock(std::FILE* out = stderr);

}  // namespace deft::sweeps
