#pragma once
// Exceptions of libraries in words that name the path and a fix.

#include <exception>
#include <string>

namespace deft {

// The message for a user. An Error has one already; an exception of the file system becomes one like it.
std::string message_for_user(const std::exception& error);

}  // namespace deft
