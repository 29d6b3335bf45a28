// core/number_text.cpp - see number_text.h.
#include "core/number_text.h"

#include <cstdio>

namespace salient {

std::string fixed(double value, int decimals) {
  char text[352];  // the largest double has 309 digits before the point
  (void)std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

}  // namespace salient
