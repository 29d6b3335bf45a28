// apps/serve/http_message.h - a request, its answer, and a refusal, as the parts of the server pass them on.
#pragma once

#include <string>

namespace salient::serve {

struct HttpRequest {
  std::string method{};
  std::string path{};  ///< percent-decoded, without the query
  std::string body{};
};

struct HttpAnswer {
  int status = 200;
  std::string body{};
  const char* type = "application/json";
  const char* allow = nullptr;  ///< of 405: the method that the path has
};

/// Thrown for a request that gets no further. Where it ends is not sure then: its connection ends with the answer.
struct HttpRefusal {
  int status;
  std::string what;  ///< one line for the client
};

}  // namespace salient::serve
