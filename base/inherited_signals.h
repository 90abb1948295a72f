#pragma once
// Signals as a program should find them at its start, whatever its parent ignored or blocked.

#include <span>

namespace deft {

// SIGCHLD and SIGPIPE act again, and no signal stays blocked but those of `kept`: where a parent ignores SIGCHLD, no
// child can be waited for. SIGXFSZ is ignored, so that a write beyond a file-size limit fails with a reason. SIGHUP and
// SIGINT stay ignored where they are, as under nohup.
void reset_inherited_signals(std::span<const int> kept);

}  // namespace deft
