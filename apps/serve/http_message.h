// apps/serve/http_message.h - a request, its answer, and a refusal, as the parts of the server pass them on.
#pragma once

#include <cstddef>
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

/// An answer, for the log and the counts.
struct HttpAccess {
  std::string client{};          ///< the address that it came from
  std::string method{}, path{};  ///< "" of what is refused before they are known
  int status = 0;
  std::size_t num_bytes = 0;  ///< of the answer's body
  double seconds = 0;         ///< since the request was whole
};

/// Thrown for a request that gets no further. Where it ends is not sure then: its connection ends with the answer.
struct HttpRefusal {
  int status;
  std::string what;  ///< one line for the client
};

}  // namespace salient::serve
