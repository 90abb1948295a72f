#pragma once
// The path of a program's file as other machines find it.

#include <string>

namespace deft::sweeps {

// A link below /proc is each process's own; its target is the same file on every node. Errors: io, where that file was
// replaced since this process began.
std::string program_on_nodes(const std::string& program);

}  // namespace deft::sweeps
