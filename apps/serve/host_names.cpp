// apps/serve/host_names.cpp - see host_names.h.
#include "apps/serve/host_names.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "apps/serve/request_head.h"
#include "core/lower_case.h"

namespace salient::serve {
namespace {

constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-._~";
constexpr std::size_t kLongestName = 255;
constexpr std::string_view kMapped = "::ffff:";  // IPv4 in IPv6

/// "" or ":80"
bool is_port(std::string_view text) {
  if (text.empty()) return true;
  const std::string_view digits = text.substr(1);
  const bool are_digits = digits.find_first_not_of("0123456789") == std::string_view::npos && digits.size() <= 5;
  unsigned port = 0;
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return text[0] == ':' && are_digits && port <= 65535;  // "NAME:" has the form, too
}

std::optional<std::string> address_v6(const std::string& text) {
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> found{};
  if (::inet_pton(AF_INET6, text.c_str(), &address) != 1) return std::nullopt;
  const std::string spelt = ::inet_ntop(AF_INET6, &address, found.data(), found.size());
  const bool is_mapped = spelt.starts_with(kMapped) && spelt.find('.') != std::string::npos;
  return is_mapped ? spelt.substr(kMapped.size()) : spelt;
}

}  // namespace

std::optional<std::string> host_of(std::string_view authority) {
  const bool is_v6 = authority.starts_with('[');
  const std::size_t end = is_v6 ? authority.find(']') : std::min(authority.find(':'), authority.size());
  if (end == std::string_view::npos || !is_port(authority.substr(end + is_v6))) return std::nullopt;
  if (is_v6) return address_v6(std::string(authority.substr(1, end - 1)));
  std::string name = lower(authority.substr(0, end));
  if (name.ends_with('.')) name.pop_back();
  const bool is_name =
      !name.empty() && name.size() <= kLongestName && name.find_first_not_of(kNameLetters) == std::string::npos;
  return is_name && !name.ends_with('.') ? std::optional(name) : std::nullopt;
}

std::optional<std::string> host_named(const std::string& text) {
  const bool has_brackets = text.starts_with('[') && text.ends_with(']');
  return host_of(text.find(':') == std::string::npos || has_brackets ? text : "[" + text + "]");
}

bool is_loopback(const std::string& host) {
  in_addr v4{};
  const bool is_v4 = ::inet_pton(AF_INET, host.c_str(), &v4) == 1;
  return is_v4 ? (ntohl(v4.s_addr) >> 24) == 127 : host == "::1";
}

HostNames::HostNames(std::string_view address, const std::string& asked, const std::vector<std::string>& more) {
  const std::optional<std::string> own = host_of(address);
  if (more.empty() && (!own || !is_loopback(*own))) return;
  names_ = {"localhost"};
  if (own) names_.push_back(*own);
  std::vector<std::string> given = more;
  given.push_back(asked);
  for (const std::string& text : given)
    if (const std::optional<std::string> name = host_named(text)) names_.push_back(*name);
}

bool HostNames::has(const std::string& host) const {
  return is_any() || std::ranges::find(names_, host) != names_.end();
}

}  // namespace salient::serve
