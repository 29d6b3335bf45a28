// apps/serve/request_rules.h - what a head must say to be a request of this server, and what it then asks for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "apps/serve/host_names.h"
#include "apps/serve/request_head.h"

namespace salient::serve {

struct HeadRules {
  std::size_t max_body = 1 << 20;  ///< bytes
  HostNames hosts{};
};

struct RequestPlan {
  std::string method{};
  std::string path{};  ///< percent-decoded, without the query
  std::size_t body_size = 0;
  bool keeps_open = true;   ///< the connection, for a next request
  bool is_awaited = false;  ///< the client sends its body after 100 Continue
};

/// All rules that a request can break before its body is read:
/// - 400: no or two Hosts in HTTP/1.1, or one of another form; a Content-Length that is not one decimal number; a
///   target that is no path, or has a wrong escape or an escaped NUL;
/// - 403: an Origin, and 421: a Host, or that of a target with one, which is none of `hosts`;
/// - 411: Transfer-Encoding; 413: a longer body; 415: a POST of something that is declared to be other than JSON.
/// @throws HttpRefusal
RequestPlan check_head(const RequestHead& head, const HeadRules& rules);

}  // namespace salient::serve
