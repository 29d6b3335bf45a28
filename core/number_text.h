// core/number_text.h - numbers as people read them: "0.8312", "1.25 GB".
#pragma once

#include <cmath>
#include <concepts>
#include <cstdio>
#include <string>

namespace salient {

/// "0.8312" for (0.83124, 4), as printf's %.4f.
std::string fixed(double value, int decimals);

/// The values as printf writes them by this pattern, cut to 255 bytes.
template <class... Values>
std::string printed(const char* pattern, Values... values) {
  char text[256];
  (void)std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// "1.25 GB", in units of 10^9 bytes.
std::string gigabytes(std::integral auto bytes, int decimals = 2) {
  return fixed(static_cast<double>(bytes) * 1e-9, decimals) + " GB";
}

/// The same rounded up to hundredths, for what is needed: the printed amount suffices.
std::string gigabytes_needed(std::integral auto bytes) {
  return fixed(std::ceil(static_cast<double>(bytes) / 1e7) / 100, 2) + " GB";
}

}  // namespace salient
