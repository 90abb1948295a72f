#pragma once
// The environment variables that child processes get.

#include <string>
#include <string_view>
#include <vector>

namespace deft {

// Whether a child would act elsewhere because of a variable that this process inherited: git in another repository (a hook
// sets GIT_DIR), mpirun as a process of the launch that started this one, Python as a session at its prompt.
bool redirects_children(std::string_view name);

// This process's own "NAME=value" entries without those that redirect children, with `changed` in place of, or beside,
// the others. The pointers are into the environment and into `changed`; the last one is null.
std::vector<char*> child_environment(const std::vector<std::string>& changed);

}  // namespace deft
