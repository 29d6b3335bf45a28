// apps/serve/host_names.h - which hosts a request may name: the fence of a server on 127.0.0.1 against web pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace salient::serve {

/// "NAME", "NAME:80", "127.0.0.1:80", "[::1]:80", as a Host header has it -> the host in one spelling: in lower case,
/// without port, brackets and the dot at its end, addresses as inet_ntop() writes them, IPv4 in IPv6 as IPv4.
/// @return nullopt for what has no such form
std::optional<std::string> host_of(std::string_view authority);

/// The same of a host as a person writes it: an address of IPv6 also without brackets, and no port.
std::optional<std::string> host_named(const std::string& text);

/// 127.0.0.0/8 or ::1. @param host  of host_of()
bool is_loopback(const std::string& host);

/// Hosts of requests that the server takes for its own; any without a list.
class HostNames {
 public:
  HostNames() = default;

  /// Of a server at `address`, which was asked to listen on `asked`. On a loopback address, or with names in `more`:
  /// the address, what was asked, localhost and those. Otherwise any: what leads there from outside is not known here.
  HostNames(std::string_view address, const std::string& asked, const std::vector<std::string>& more);

  bool is_any() const { return names_.empty(); }

  /// @param host  of host_of()
  bool has(const std::string& host) const;

 private:
  std::vector<std::string> names_{};
};

}  // namespace salient::serve
