// engine/report/crc32c.h - the checksum of TensorBoard's event files.
#pragma once

#include <cstdint>
#include <string_view>

namespace salient {

/// CRC-32C (Castagnoli): reflected polynomial 0x82F63B78, initial value and final xor all ones (RFC 3720, B.4).
/// Cost: a byte at a time; event files have some hundred bytes per epoch.
std::uint32_t crc32c(std::string_view bytes);

/// As TFRecord stores it: rotated right by 15 bits and displaced, so that a checksum of data that holds checksums is sound.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace salient
