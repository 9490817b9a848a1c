// Who processes in containers are: uid and gid 6480 are `eddy` in the images. A process that needs
// a capability is uid 0, because no other keeps one when a container starts; its group is eddy all
// the same, so that it shares sockets with the others without being allowed to pass over
// permissions.
#pragma once

namespace eddy::lab {

inline constexpr int kEddyId = 6'480;
inline constexpr const char* kOwnUser = "6480:6480";
inline constexpr const char* kRoot = "0:6480";

inline constexpr const char* kOwnFiles = "/tmp";
inline constexpr const char* kEalFiles = "/run/dpdk";  // XDG_RUNTIME_DIR is /run in the images

}  // namespace eddy::lab
