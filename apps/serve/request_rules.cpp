// apps/serve/request_rules.cpp - see request_rules.h.
#include "apps/serve/request_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/lower_case.h"

namespace salient::serve {
namespace {

[[noreturn]] void refuse(int status, std::string what) { throw HttpRefusal{status, std::move(what)}; }

/// Where a body ends is said once, in one way: else a proxy may pass on as a body what would be a request here.
std::size_t body_size_of(const RequestHead& head, std::size_t max_body) {
  if (!head.values("transfer-encoding").empty()) refuse(411, "send a Content-Length instead of chunks");
  const std::vector<std::string_view> lengths = head.values("content-length");
  if (lengths.empty()) return 0;
  if (lengths.size() > 1) refuse(400, "more than one Content-Length");
  const std::string_view text = lengths.front();
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
    refuse(400, "a Content-Length that is no number");
  std::uint64_t size = 0;
  const bool is_small = std::from_chars(text.data(), text.data() + text.size(), size).ec == std::errc{};
  if (!is_small || size > max_body) refuse(413, "the body has more than " + std::to_string(max_body) + " bytes");
  return static_cast<std::size_t>(size);
}

void check_host(std::string_view authority, const HostNames& hosts) {
  const std::optional<std::string> host = host_of(authority);
  if (!host) refuse(400, "a Host that is no name or address");
  if (!hosts.has(*host))
    refuse(421, "'" + *host + "' is no name of this server; salient-serve --allow-host " + *host + " makes it one");
}

void check_hosts(const RequestHead& head, const HostNames& hosts) {
  const std::vector<std::string_view> found = head.values("host");
  if (found.size() > 1) refuse(400, "more than one Host");
  if (found.empty() && !head.is_1_0) refuse(400, "no Host");
  for (const std::string_view authority : found) check_host(authority, hosts);
}

/// Browsers say with each POST, and with what is not to be sent without asking, which site's page it is of.
void check_origin(const RequestHead& head, const HostNames& hosts) {
  if (hosts.is_any()) return;
  for (const std::string_view origin : head.values("origin")) {
    const std::size_t slashes = origin.find("://");
    const std::optional<std::string> host =
        slashes == std::string_view::npos ? std::nullopt : host_of(origin.substr(slashes + 3));
    if (!host || !hosts.has(*host))
      refuse(403, "a page of another site may not use this server, unless salient-serve --allow-host names its host");
  }
}

/// curl -d declares a form whatever it sends.
void check_type(const RequestHead& head) {
  constexpr std::array<std::string_view, 2> kTypes = {"application/json", "application/x-www-form-urlencoded"};
  for (const std::string_view value : head.values("content-type"))
    if (std::ranges::find(kTypes, lower(trimmed(value.substr(0, value.find(';'))))) == kTypes.end())
      refuse(415, "send JSON, as application/json");
}

int hex_digit(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::size_t found = kDigits.find(lower({&c, 1}));
  return found == std::string_view::npos ? -1 : static_cast<int>(found);
}

std::string decoded(std::string_view text) {
  std::string found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      found += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) refuse(400, "a path with % before something else than two hexadecimal digits");
    if (high + low == 0) refuse(400, "a path with an escaped NUL");
    found += static_cast<char>(16 * high + low);
    i += 2;
  }
  return found;
}

/// Of "/path?query", "http://host/path" or "*".
std::string path_of(std::string_view target, const HostNames& hosts) {
  constexpr std::string_view kScheme = "http://";
  if (lower(target.substr(0, kScheme.size())) == kScheme) {
    target.remove_prefix(kScheme.size());
    const std::size_t end = std::min(target.find_first_of("/?#"), target.size());
    check_host(target.substr(0, end), hosts);
    target.remove_prefix(end);
  } else if (target[0] != '/' && target != "*") {
    refuse(400, "a target that is no path");
  }
  (void)decoded(target);  // the query, too, must be sound
  const std::string path = decoded(target.substr(0, target.find('?')));
  return path.empty() ? "/" : path;
}

bool has_word(const RequestHead& head, std::string_view name, std::string_view word) {
  for (std::string_view list : head.values(name)) {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      if (lower(trimmed(list.substr(0, end))) == word) return true;
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }
  return false;
}

}  // namespace

RequestPlan check_head(const RequestHead& head, const HeadRules& rules) {
  RequestPlan plan{.method = head.method, .path = {}};
  plan.body_size = body_size_of(head, rules.max_body);
  check_hosts(head, rules.hosts);
  plan.path = path_of(head.target, rules.hosts);
  check_origin(head, rules.hosts);
  if (head.method == "POST") check_type(head);
  plan.keeps_open =
      !has_word(head, "connection", "close") && (!head.is_1_0 || has_word(head, "connection", "keep-alive"));
  plan.is_awaited = !head.is_1_0 && plan.body_size > 0 && has_word(head, "expect", "100-continue");
  return plan;
}

}  // namespace salient::serve
