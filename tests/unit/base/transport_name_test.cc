// SPDX-License-Identifier: BSD-3-Clause
#include "base/transport_name.h"

#include <doctest/doctest.h>

#include <string>

namespace livebtl {

TEST_CASE("a transport is named by small letters and digits, and perhaps what lies beneath it") {
  for (const char* good :
       {"sm", "tcp", "a", "x9", "ofi:shm", "ofi:tcp;ofi_rxm", "ofi:verbs;ofi_rxm", "ofi:UDP.2-b",
        "verbs:mlx4_0:2", "verbs:mlx4_0:255", "12345678901234567890123456789012"})
    CHECK_MESSAGE(is_transport_name(good), good);
  for (const char* bad :
       {"", "Sm", "s m", "sm;", "sm-2", ":", ":shm", "ofi:", "ofi:a:b", "verbs:a:", "verbs:a:0",
        "verbs:a:256", "verbs:a:1:2", "verbs::1", "ofi:a b", "ofi:a/b", "ofi:$(x)", "ofi:\n",
        "123456789012345678901234567890123"})
    CHECK_MESSAGE(!is_transport_name(bad), bad);
  CHECK(is_transport_name("ofi:" + std::string(28, 'x')));
  CHECK(!is_transport_name("ofi:" + std::string(29, 'x')));
  CHECK(!is_transport_name(std::string("sm\0", 3)));
}

TEST_CASE("a word means a transport by its name, or all of its family") {
  CHECK(family_of("verbs:mlx4_0:2") == "verbs");
  CHECK(family_of("tcp") == "tcp");
  CHECK(is_meant_by("verbs:mlx5_0", "verbs"));
  CHECK(is_meant_by("verbs:mlx5_0", "verbs:mlx5_0"));
  CHECK(is_meant_by("verbs", "verbs"));
  CHECK(!is_meant_by("verbs:mlx5_0", "verbs:mlx5_1"));
  CHECK(!is_meant_by("verbs", "verbs:mlx5_0"));
  CHECK(!is_meant_by("verbs:mlx4_0:2", "verbs:mlx4_0"));
  CHECK(!is_meant_by("sm", "s"));
}

TEST_CASE("names from Open MPI stand for ours") {
  CHECK(canonical_transport("vader") == "sm");
  CHECK(canonical_transport("openib") == "verbs");
  CHECK(canonical_transport("tcp") == "tcp");
  CHECK(canonical_transport("") == "");
  CHECK(alias_of("sm") == "vader");
  CHECK(alias_of("verbs") == "openib");
  CHECK(alias_of("tcp") == "");
}

TEST_CASE("an error is shown without the name that the line begins with") {
  CHECK(without_name("verbs: no device", "verbs") == "no device");
  CHECK(without_name("ofi: no provider", "ofi:tcp;ofi_rxm") == "no provider");
  CHECK(without_name("epoll: no room", "tcp") == "epoll: no room");
  CHECK(without_name("verbs", "verbs") == "verbs");
  CHECK(without_name("smb: what", "sm") == "smb: what");
  CHECK(without_name("", "sm") == "");
}

}  // namespace livebtl
