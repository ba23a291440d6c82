// SPDX-License-Identifier: BSD-3-Clause
// core/bml/bml.cc -- see bml.h.
#include "core/bml/bml.h"

#include "core/engine/context.h"
#include "core/lane/send.h"

namespace livebtl::core {

Bml::Bml(const Parts& with)
    : slots(with.context, peers, with.sender, connector),
      peers(with.context, slots),
      elector(with.context, peers, slots, with.sender, dialler, with.switching, with.hold),
      losses({with.context, peers, elector, dialler, connector, with.returning, with.sender,
              with.transfers, with.onesided, with.ports}),
      connector({with.context,
                 {with.receiver, with.transfers, losses.broken()},
                 peers,
                 slots,
                 elector,
                 losses,
                 probes,
                 with.sender,
                 with.switching,
                 with.returning,
                 with.hold}),
      dialler({with.context, peers, slots, elector, connector, tickets, unreached, losses,
               with.switching, with.returning, with.hold}),
      tickets(with.context, peers, slots, connector, with.switching),
      unreached(with.context, peers, slots),
      probes(with.context, peers, with.sender, with.hold),
      path_control(connector, elector, dialler, tickets, with.sender),
      sender_(with.sender) {}

void Bml::tidy_up() noexcept {
  losses.turn();
  tickets.turn();
  connector.turn();
  dialler.turn();
}

void Bml::housekeeping() noexcept {
  connector.keep_time();
  peers.for_each([&](Peer& peer) {
    probes.keep_time(peer);
    dialler.keep_time(peer);
    if (!peer.owes_acknowledgement()) return;
    peer.rx.ack_wanted = true;
    sender_.mark_dirty(peer);
  });
  losses.keep_time();
}

void Bml::shut_down() noexcept {
  connector.clear();
  tickets.clear();
  losses.clear();
  slots.clear();
}

}  // namespace livebtl::core
