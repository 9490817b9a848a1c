// without_secrets(): a text in which what looks like a secret is "***".
//
// That is what follows a word such as password, secret, token or credential and '=' or ':', as in
// arguments of devices, YAML and JSON, and a name and password before the host of a URL. Whoever
// writes a secret otherwise, in a comment for example, is not protected. Pure. Cost: linear in the
// text, times the number of words.
#pragma once

#include <string>
#include <string_view>

namespace eddy::control {

std::string without_secrets(std::string_view text);

}  // namespace eddy::control
