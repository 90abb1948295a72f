#pragma once
// The environment variables that child processes get.

#include <string>
#include <string_view>
#include <vector>

namespace deft {

// Whether a variable that this process inherited would make a child act elsewhere. A hook's GIT_DIR moves git to
// another repository; variables of a launch make mpirun one of its processes; PYTHONINSPECT leaves Python at its
// prompt.
bool redirects_children(std::string_view name);

// This process's own "NAME=value" entries without those that redirect children, with `changed` in place of, or beside,
// the others. The pointers are into the environment and into `changed`; the last one is null.
std::vector<char*> child_environment(const std::vector<std::string>& changed);

}  // namespace deft
