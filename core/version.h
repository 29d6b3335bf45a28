// core/version.h - this program's version, as files and --version name it.
#pragma once

namespace salient {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace salient
