#pragma once
// Folders of several files, written atomically.

#include <filesystem>
#include <functional>

namespace deft {

// Has write(temporary) fill a new folder, which then becomes `folder`, in place of one that was there; the name is
// durable once this has returned. The files are their writer's to bring to the disk, as write_file_atomically() does.
// `temporary` lies beside `folder`, on one disk with it: what a kill left there is removed first. After an error, of
// `write` too, nothing is left of it, and `folder` is what it was before. Errors: io.
void write_whole_folder(const std::filesystem::path& folder, const std::filesystem::path& temporary,
                        const std::function<void(const std::filesystem::path&)>& write);

}  // namespace deft
