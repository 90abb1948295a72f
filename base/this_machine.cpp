#include "base/this_machine.h"

#include <sys/utsname.h>

#include <fstream>

namespace deft {

std::string host_name() {
    utsname name{};
    return ::uname(&name) == 0 ? name.nodename : std::string();
}

std::string boot_id() {
    std::ifstream in("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(in, id);
    return id;
}

}  // namespace deft
