#pragma once
// Attempts as processes of this machine.

#include "sweeps/driver/launcher.h"

namespace deft::sweeps {

std::unique_ptr<Launcher> make_local_launcher();

}  // namespace deft::sweeps
