#include "results_db/writer_lock.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

namespace deft::results_db {

bool has_writer(const std::filesystem::path& database) {
    struct stat file {};
    if (::stat((database.string() + ".lock").c_str(), &file) != 0) return false;
    // "1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF"
    const std::string inode = fmt::format(":{} ", file.st_ino);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);)
        if (line.find("FLOCK") != std::string::npos && line.find(inode) != std::string::npos &&
            line.find("->") == std::string::npos)
            return true;
    return false;
}

}  // namespace deft::results_db
