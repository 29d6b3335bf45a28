// engine/report/crc32c.h - the checksum of TensorBoard's event files.
#pragma once

#include <cstdint>
#include <string_view>

namespace salient {

/// CRC-32C (Castagnoli): reflected polynomial 0x82F63B78, initial value and final xor all ones (RFC 3720, B.4).
/// Cost: a byte at a time; event files have some hundred bytes per epoch.
/// By hand: 20 lines; zlib has CRC-32 only, isa-l would be one more shared library.
std::uint32_t crc32c(std::string_view bytes);

/// As TFRecord stores it: rotated right by 15 bits and displaced, which keeps checksums of data with checksums sound.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace salient
