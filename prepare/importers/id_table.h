// prepare/importers/id_table.h - names and their numbers, "NAME <tab> NUMBER" a line, as entity2id.txt has them.
#pragma once

#include <filesystem>

#include "prepare/importers/memory_limit.h"
#include "prepare/importers/name_table.h"

namespace salient {

/// Name i is that of number i: the numbers are 0, 1, ..., each once, in any order. The number is behind the last tab or
/// blank of the line. A first line that is a number alone says how many names follow.
/// @throws as LineReader; Error{kBadData} naming file and line; Error{kHostMemory}
NameTable read_id_table(const std::filesystem::path& path, const MemoryLimit& memory);

}  // namespace salient
