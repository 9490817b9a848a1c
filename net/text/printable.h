// printable(): text of others as one line that a terminal and a log show and do not obey.
//
// Control characters (of ASCII and of Latin-1, line ends among them), marks that turn the direction
// of writing, line separators, and octets that are no UTF-8 come out as \n, \t, \xNN or \uNNNN; all
// else stays, letters of any language too. It belongs where text leaves a program: what is written
// for programs is JSON, which has an escape of its own. Cost: linear in the text.
#pragma once

#include <string>
#include <string_view>

namespace eddy {

std::string printable(std::string_view text);
// The same of text that we have laid out in lines ourselves: its line ends stay.
std::string printable_lines(std::string_view text);

}  // namespace eddy
