// SPDX-License-Identifier: BSD-3-Clause
// base/transport_name.h -- what a transport's name may be, wherever it comes from: environment,
// command line, JSON, a peer's hello.
#pragma once

#include <string_view>

namespace livebtl {

inline constexpr std::size_t kTransportNameMax = 32;
/// The most transports of a process, so that their addresses and the relay's fit into a hello.
inline constexpr std::size_t kTransportsMax = 7;
/// What is_transport_name() accepts, for messages to people.
inline constexpr std::string_view kTransportNameTakes =
    "small letters and digits, at most 32; behind a ':' also '.', ';', '_', '-' and capitals";

/// "tcp", or a name with what it runs on: "ofi:tcp;ofi_rxm", "verbs:mlx4_0:2".
bool is_transport_name(std::string_view text) noexcept;

/// The name of the transport's family: "verbs" for "verbs:mlx5_0"; "tcp" for "tcp".
constexpr std::string_view family_of(std::string_view transport) noexcept {
  return transport.substr(0, transport.find(':'));
}
/// Does `word` mean that transport, as its own name or its family's?
constexpr bool is_meant_by(std::string_view transport, std::string_view word) noexcept {
  return transport == word || family_of(transport) == word;
}

/// The transport's former name in Open MPI: "vader" for "sm", "openib" for "verbs"; "": none.
std::string_view alias_of(std::string_view transport) noexcept;

/// "sm" for "vader" and so on; other texts unchanged.
std::string_view canonical_transport(std::string_view name) noexcept;

/// The text of this transport's error, without the leading "NAME: " that most have ("ofi: " for
/// ofi:shm): for lines that name the transport themselves.
std::string_view without_name(std::string_view error, std::string_view transport) noexcept;

}  // namespace livebtl
