// apps/serve/http_date.cpp - see http_date.h.
#include "apps/serve/http_date.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace salient::serve {

std::string http_date() {
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  (void)::gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), "%s, %02d %s %d %02d:%02d:%02d GMT",  // strftime() asks the locale
                      kDays[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                      kMonths[static_cast<std::size_t>(parts.tm_mon)], 1900 + parts.tm_year, parts.tm_hour,
                      parts.tm_min, parts.tm_sec);
  return text.data();
}

}  // namespace salient::serve
