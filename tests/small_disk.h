#pragma once
// A file system of a few hundred kilobytes, where this process may mount one.

#include <sys/mount.h>

#include <filesystem>
#include <string>

namespace deft::test {

class SmallDisk {
 public:
    SmallDisk(const std::filesystem::path& folder, int kilobytes) : path_(folder) {
        std::filesystem::create_directory(path_);
        const std::string size = "size=" + std::to_string(kilobytes) + "k";
        mounted_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, size.c_str()) == 0;
    }
    ~SmallDisk() {
        if (mounted_) umount2(path_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    bool mounted() const { return mounted_; }
    bool make_read_only() { return mount(nullptr, path_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0; }
    std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
    std::filesystem::path path_;
    bool mounted_ = false;
};

}  // namespace deft::test
