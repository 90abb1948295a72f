#include "sweeps/driver/program_on_nodes.h"

#include <filesystem>

#include "base/error.h"

namespace deft::sweeps {

std::string program_on_nodes(const std::string& program) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::canonical(program, error);
    if (!error) return target.string();
    throw Error(ErrorKind::io, "the program's file was replaced since it was started", "start it again");
}

}  // namespace deft::sweeps
