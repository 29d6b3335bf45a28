// apps/serve/listen.h - a socket that waits for connections.
#pragma once

#include <string>

#include "core/host/descriptor.h"

namespace salient::serve {

/// @param host  an address of this machine, or a name of one   @param port  0 = any that is free
/// @throws Error{kUsage} for what is no host; Error{kIo} where the address cannot be had: the port is taken.
Descriptor listen_on(const std::string& host, int port);

/// "127.0.0.1:8080", "[::1]:8080"
std::string address_of(const Descriptor& socket);

}  // namespace salient::serve
