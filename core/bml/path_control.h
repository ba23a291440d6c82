// SPDX-License-Identifier: BSD-3-Clause
// core/bml/path_control.h -- what the two ends of a path tell each other about it, handed to the part
// that it is for. Threads: under the engine's lock.
#pragma once

#include "core/lane/path_events.h"

namespace livebtl::core {

class Connector;
class Dialler;
class Elector;
class Sender;
class Tickets;

class PathControl final : public PathEvents {
 public:
  PathControl(Connector& connector, Elector& elector, Dialler& dialler, Tickets& tickets,
              Sender& sender)
      : connector_(connector),
        elector_(elector),
        dialler_(dialler),
        tickets_(tickets),
        sender_(sender) {}

  void on_hello(Path& path, Bytes payload) noexcept override;
  void on_confirmed(Path& path) noexcept override;
  void on_path_frame(Path& path, const FrameHead& head, Bytes header,
                     Bytes payload) noexcept override;
  void on_addresses(Peer& peer, Bytes payload) noexcept override;
  void want_path(Peer& peer) noexcept override;

 private:
  void on_marker(Path& path, std::uint64_t ordinal) noexcept;

  Connector& connector_;
  Elector& elector_;
  Dialler& dialler_;
  Tickets& tickets_;
  Sender& sender_;
};

}  // namespace livebtl::core
