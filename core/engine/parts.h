// SPDX-License-Identifier: BSD-3-Clause
// core/engine/parts.h -- the names of an engine's parts, for headers that only refer to them.
#pragma once

namespace livebtl {
struct Peer;
}

namespace livebtl::core {

struct Context;
struct PortState;
struct TransportSlot;
class Boxes;
class Connector;
class Dialler;
class Elector;
class Hold;
class Losses;
class OneSided;
class Path;
class PathEvents;
class Peers;
class PortTable;
class Probes;
class Receiver;
class Returning;
class Sender;
class Slots;
class Switching;
class Tickets;
class Transfers;
class Unreached;

}  // namespace livebtl::core
