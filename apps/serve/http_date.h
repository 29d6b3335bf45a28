// apps/serve/http_date.h - the time as HTTP writes it.
#pragma once

#include <string>

namespace salient::serve {

/// "Sun, 06 Nov 1994 08:49:37 GMT" of the present. Threads: any.
std::string http_date();

}  // namespace salient::serve
