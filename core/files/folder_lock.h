// core/files/folder_lock.h - one program at a time changes what is in a folder.
#pragma once

#include <filesystem>
#include <optional>

#include "core/host/descriptor.h"

namespace salient {

/// Locks a folder for as long as the result is there. Programs that only read take no lock.
/// @return  nullopt when another program has the lock; an empty descriptor, and no lock, where the folder is not there
///          or its file system knows no locks
std::optional<Descriptor> try_lock_folder(const std::filesystem::path& folder);

/// The same, and waits for the other program to end. @throws Interrupted
Descriptor lock_folder(const std::filesystem::path& folder);

}  // namespace salient
