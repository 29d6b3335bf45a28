// tests/support/owners.h - parts for the nodes of SmallStore.
#pragma once

#include <cstdint>
#include <vector>

namespace salient::test {

using Owners = std::vector<std::uint16_t>;

inline const Owners kOwners{0, 2, 2, 0, 3, 0, 0, 2};  // of 5 parts, two of them without nodes

}  // namespace salient::test
