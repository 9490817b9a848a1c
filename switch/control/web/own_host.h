// Whether the Host of a request is a name of this server, and whether the request is of its own
// page: what keeps other pages in the same browser away.
//
// A page of elsewhere can have its own name lead to our address (DNS rebinding), and its requests
// then bear that name. Names that nobody can have made lead here are addresses, "localhost" and, on
// an address that others reach, the machine's own name. Pure functions. Cost: linear in the text.
#pragma once

#include <string>
#include <string_view>

namespace eddy::control {

// `host`: as in the header, "127.0.0.1:9480", "[::1]", "LOCALHOST". `machine`: this machine's name,
// or empty where only loopback is listened on. A port may be any: that of a tunnel, too.
bool is_own_host(std::string_view host, std::string_view machine);

// `site`: Sec-Fetch-Site, empty where a browser has not said it.
bool is_own_page(std::string_view site);

}  // namespace eddy::control
