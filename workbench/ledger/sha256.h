// workbench/ledger/sha256.h - SHA-256, the name of every source and the chain of every ledger.
//
// Written by hand: libcrypto would be a dependency for sixty lines; xxHash is no protection against changes made on
// purpose.
#pragma once

#include <string>
#include <string_view>

namespace salient::workbench {

/// 64 lower-case hexadecimal digits. Algorithm: FIPS 180-4. Oracle: its published vectors.
std::string sha256(std::string_view bytes);

}  // namespace salient::workbench
