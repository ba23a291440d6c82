// SPDX-License-Identifier: BSD-3-Clause
// base/transport_name.h -- what may be a transport's name, wherever it comes from: environment,
// command line, JSON, a peer's hello.
#pragma once

#include <string_view>

namespace livebtl {

inline constexpr std::size_t kTransportNameMax = 32;
/// Most transports that a process has, so that their addresses and the relay's fit into a hello.
inline constexpr std::size_t kTransportsMax = 7;
/// What is_transport_name() takes, for messages to people.
inline constexpr std::string_view kTransportNameTakes =
    "small letters and digits, at most 32; behind a ':' also '.', ';', '_', '-' and capitals";

/// "tcp", or with what lies beneath it: "ofi:tcp;ofi_rxm", "verbs:mlx4_0:2".
bool is_transport_name(std::string_view text) noexcept;

/// The word that means a transport together with its like: "verbs" of "verbs:mlx5_0"; of "tcp": "tcp".
constexpr std::string_view family_of(std::string_view transport) noexcept {
  return transport.substr(0, transport.find(':'));
}
/// Does `word` mean that transport: by its name, or as the word for its family?
constexpr bool is_meant_by(std::string_view transport, std::string_view word) noexcept {
  return transport == word || family_of(transport) == word;
}

/// The name that the transport had in Open MPI: "vader" of "sm", "openib" of "verbs"; "": none.
std::string_view alias_of(std::string_view transport) noexcept;

/// "sm" for "vader" and so on; other texts as they are.
std::string_view canonical_transport(std::string_view name) noexcept;

/// The text of an error of this transport's, without the "NAME: " that most begin with (for ofi:shm
/// "ofi: ", too): for lines that name the transport themselves.
std::string_view without_name(std::string_view error, std::string_view transport) noexcept;

}  // namespace livebtl
