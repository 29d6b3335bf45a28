// apps/serve/access_log.cpp - see access_log.h.
#include "apps/serve/access_log.h"

#include <nlohmann/json.hpp>

#include "core/console/log_format.h"
#include "core/number_text.h"

namespace salient::serve {

void log_access(const HttpAccess& access) {
  constexpr std::size_t kLongest = 200;
  const std::string path = access.path.size() > kLongest ? access.path.substr(0, kLongest) + "..." : access.path;
  const auto or_dash = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
  const nlohmann::ordered_json fields = {
      {"client", access.client}, {"method", access.method},   {"path", path},
      {"status", access.status}, {"bytes", access.num_bytes}, {"seconds", access.seconds}};
  log_event(access.client + " " + or_dash(access.method) + " " + or_dash(path) + " " + std::to_string(access.status) +
                " " + std::to_string(access.num_bytes) + " bytes " + fixed(access.seconds * 1e3, 2) + " ms",
            fields.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

}  // namespace salient::serve
