// The wrappers that every scheme is compiled with. A wrapper W is one more type in the list below:
//
//   struct W {
//     static constexpr std::string_view kName, kSummary;
//     static constexpr ShimNeed kNeeds;  // if it reads PathView::paths()
//     struct Parameters { ... };
//     static constexpr auto parameters();  // lb/parameters.h
//     template <PathScheme Scheme> class Around;  // itself a PathScheme; constructed from
//   };                                            // (SelectorInit, W::Parameters,
//   Scheme::Parameters)
//
// Around<Scheme> owns its Scheme and asks it propose, alternative and commit; both are inlined into
// one loop, so a wrapper costs no call a packet and no scheme knows of it.
#pragma once

#include "lb/rlb/rlb.h"

namespace eddy::lb {

template <class... W>
struct WrapperList {};

using Wrappers = WrapperList<Rlb>;

}  // namespace eddy::lb
