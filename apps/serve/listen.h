// apps/serve/listen.h - a socket that waits for connections.
#pragma once

#include <netdb.h>

#include <string>

#include "core/host/descriptor.h"

namespace salient::serve {

/// @param host  an address of this machine, or a name: of its addresses the first that this machine has
/// @param port  0 = any that is free
/// @throws Error{kUsage} for what is no host; Error{kIo} where no address can be had, or the port is taken.
Descriptor listen_on(const std::string& host, int port);

/// The same of addresses. @return no descriptor, and errno, where none can be had
Descriptor listen_on_first(const addrinfo* addresses);

/// "127.0.0.1:8080", "[::1]:8080"
std::string address_of(const Descriptor& socket);

/// The address that a connection comes from, without its port: "127.0.0.1", "::1"; "-" if the client reset it.
std::string peer_of(const Descriptor& socket);

}  // namespace salient::serve
