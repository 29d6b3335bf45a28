// core/version.h - the version of programs and library, as files and help texts name it.
#pragma once

namespace salient {

inline constexpr const char* kVersion = "0.2.0";

}  // namespace salient
