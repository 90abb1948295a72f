// The warning of a root whose file locks may not hold between machines.

#include "sweeps/driver/shared_locks.h"

#include "tests/catch.h"
#include "tests/sweeps/files.h"

using namespace deft;

TEST_CASE("File systems whose locks may not hold between machines are known by their types") {
    CHECK(sweeps::system_of_doubtful_locks(0x6969) == "NFS");
    CHECK(sweeps::system_of_doubtful_locks(0x65735546) == "FUSE");
    CHECK(sweeps::system_of_doubtful_locks(0xFFFFFFFFFF534D42) == "CIFS");  // as a negative number
    // ext4, xfs, btrfs, tmpfs, overlay
    for (const unsigned long local : {0xEF53ul, 0x58465342ul, 0x9123683Eul, 0x01021994ul, 0x794C7630ul})
        CHECK(sweeps::system_of_doubtful_locks(local).empty());
}

TEST_CASE("A root on a file system of one machine gets no warning, also before it is made") {
    const test::Folder folder;
    CHECK(sweeps::warning_of_locks(folder.path).empty());
    CHECK(sweeps::warning_of_locks(folder.path / "not" / "there").empty());
}
