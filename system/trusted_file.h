// open_trusted(): a file whose contents nobody else can have chosen, opened for reading.
//
// The path is followed folder by folder, each opened below the one before and looked at through its
// descriptor, so that nothing can be put in the place of what was looked at. Every folder on the
// way, those of symbolic links as well, and the file itself belong to root or to `user`, and no
// group and nobody else may write to them; a sticky folder such as /tmp is one that others may
// write to. (An access list that lets another user write shows as the group's bit.) The file is a
// regular one. Control plane. Cost: two system calls a folder.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "net/result.h"
#include "system/descriptor.h"

namespace eddy {

// `path` is absolute. A problem says which folder or file it is, and what would be valid.
Result<Descriptor> open_trusted(const std::filesystem::path& path, uid_t user);

}  // namespace eddy
