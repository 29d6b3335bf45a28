// apps/serve/access_log.h - one line of the log for each answer.
#pragma once

#include "apps/serve/http_message.h"

namespace salient::serve {

/// "127.0.0.1 POST /predict 200 153 bytes 1.42 ms", and the same as fields of a log in JSON. Foreign text is made
/// printable, long paths are cut. Threads: any.
void log_access(const HttpAccess& access);

}  // namespace salient::serve
