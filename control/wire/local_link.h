// SPDX-License-Identifier: BSD-3-Clause
// control/wire/local_link.h -- one connection between two processes of a node: envelopes over a
// Unix socket that preserves packet boundaries.
//
// Nothing here blocks, waits for the other side, or ends the process. A send may be dropped: a sender that must
// be sure waits for the answer and sends again. Threads: one.
#pragma once

#include <poll.h>

#include <deque>
#include <optional>
#include <string>

#include "base/fd.h"
#include "control/wire/envelope.h"
#include "livebtl/result.h"

namespace livebtl::control {

class LocalLink {
 public:
  /// Connects to the socket at that path. Errors: kUnreachable (nobody listens), kLimit (too many
  /// wait to be accepted), kNoMemory (no descriptor is left), kSystem.
  static Result<LocalLink> connect(const std::string& path);
  /// Takes an end that is already connected.
  explicit LocalLink(Fd fd) : fd_(std::move(fd)) {}

  /// The next envelope. A malformed packet ends the connection: none of our processes sends one.
  std::optional<Envelope> receive();
  /// false: dropped, because the other side has gone, or reads too slowly, or a text is too long.
  bool send(const Envelope& envelope);
  /// Sends what a full socket has held back.
  void flush();
  /// Nothing comes from here any more. The descriptor is closed only with the object, so that its
  /// number is not reused before then.
  bool closed() const noexcept { return ended_; }

  /// The user whose process called listen() at the other end. nullopt: the kernel does not tell.
  std::optional<uid_t> listener() const noexcept;

  int fd() const noexcept { return fd_.number(); }
  /// What to poll it for. Requires: not closed().
  pollfd wanted() const noexcept {
    return {fd_.number(), static_cast<short>(queue_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  }

 private:
  enum class Sent { kYes, kFull, kNever };
  static constexpr std::size_t kQueueMax = 1000;  // envelopes
  static constexpr std::size_t kQueueBytesMax = 4u << 20;

  Sent send_packet(std::string_view head, std::string_view back, std::string_view to,
                   std::string_view body);
  void end();

  Fd fd_;
  bool ended_ = false;
  std::deque<std::string> queue_;  // whole packets
  std::size_t queue_bytes_ = 0;
};

}  // namespace livebtl::control
