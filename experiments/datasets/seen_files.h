#pragma once
// Hashes of files that were read before: a file that has the size, the times and the place on the disk that it had then
// is not read again. Who only asks whether data has changed since need not read all of it each time.

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace deft::experiments {

class SeenFiles {
 public:
    // Remembers nothing beyond its life.
    SeenFiles() = default;
    // Reads the known hashes in `store`; an absent or damaged store holds nothing.
    explicit SeenFiles(std::filesystem::path store);

    // The hash that `compute` gave or gives of this file. `what` names one of several hashes of a file. Errors: those
    // of `compute`.
    std::string sha256(const std::string& what, const std::filesystem::path& file,
                       const std::function<std::string()>& compute);

    // Writes the store, where there is anything new. A store that cannot be written costs only time: not an error.
    void save() const;

 private:
    std::filesystem::path store_;
    struct Seen {
        std::string stamp, sha256;
    };
    std::map<std::string, Seen> seen_;  // by what and path
    bool is_new_ = false;
};

}  // namespace deft::experiments
