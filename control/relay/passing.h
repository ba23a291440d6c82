// SPDX-License-Identifier: BSD-3-Clause
// control/relay/passing.h -- what a relay passes on: between the members and clients of its node,
// which come over Unix sockets, and other nodes' relays and clients from outside, which come over
// ZeroMQ.
//
// Passing on keeps no state but open connections: the way back travels in the envelope. An envelope
// names at most one relay and one process, so nothing goes in circles. The relay itself answers
// which members are on its node; another question it puts to all of them (merging.h). Threads: one.
#pragma once

#include <poll.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/secret.h"
#include "control/relay/fellow_relays.h"
#include "control/relay/front.h"
#include "control/relay/merging.h"
#include "control/wire/forwarders.h"
#include "control/wire/local_door.h"
#include "control/wire/messages.h"
#include "control/wire/route.h"
#include "control/wire/zmq_socket.h"

namespace livebtl::control {

struct RelayFacts {
  std::string directory;  // the job's
  std::uint64_t node = 0;
  std::string job;
  std::uint16_t port = 0;             // to listen on if it is free; 0: any
  std::vector<std::string> relay_on;  // TCP_IF
};

class Passing final : private Merging::Ways {
 public:
  /// Listens for members and clients of this node. Errors: as LocalDoor::listen(), kSystem.
  static Result<Passing> open(const RelayFacts& facts);

  /// Takes in, passes on and answers what has come.
  void turn(TimeNs now);
  TimeNs wake_at() const noexcept;
  void add_poll_fds(std::vector<pollfd>& fds) const;
  /// turn() has more to do at once.
  bool pending() const;

  /// Members that are connected now, and have said who they are.
  std::size_t members() const noexcept { return members_.size(); }
  bool had_members() const noexcept { return had_members_; }
  /// When somebody on another node last asked for the members of this one; 0: never.
  TimeNs asked_from_away_at() const noexcept { return asked_from_away_at_; }

 private:
  static constexpr std::size_t kConnectionsMax = 16'384;
  static constexpr std::size_t kPassingMax = 128;       // connections to other relays
  static constexpr std::size_t kPassingHereMax = 4096;  // ... to members
  static constexpr std::uint8_t kLocal = 0;
  static constexpr std::uint8_t kRelay = 1;
  static constexpr std::uint8_t kSelf = 2;
  static constexpr std::uint8_t kMerging = 3;

  Passing(const RelayFacts& facts, std::unique_ptr<zmq::context_t> context, LocalDoor door)
      : facts_(facts), context_(std::move(context)), door_(std::move(door)) {}

  /// Where a question went, and its answer comes from.
  struct Asked {
    std::string socket;  // of a member of this node
    std::string relay;   // else: that relay's endpoints
  };

  void hear_members();
  template <class Connection>
  void hear_from(Connection& connection, const Asked& asked);
  void take_all();
  void welcome(const Envelope& hello);
  Status begin(const Secret& secret);
  void tell(const std::string& peer, std::string_view note, const std::string& body);
  void take(std::uint8_t listener, const Envelope& envelope);
  void pass_on(std::uint8_t listener, const Envelope& envelope, const Route& route);
  bool pass_on_here(const Envelope& envelope, ProcessId process);
  bool pass_on_away(const Envelope& envelope, const std::string& relay);
  void answer_self(const Return& to, const std::string& body);
  MembersAnswer members_for(const MembersRequest& asked, std::uint8_t from);
  void ask_for_relays(TimeNs now);
  void learn_relays(const std::string& body);
  void bring_back(const Envelope& envelope, const Asked& asked);
  void bring_back_merged(const Return& to, const Envelope& envelope, const Asked& asked);
  bool forwards_for(std::uint8_t from) const noexcept {
    return from != kRelay || (secret_ && secret_->present());
  }
  bool has_ended(ProcessId member) const override;
  bool to_member(const Envelope& envelope, ProcessId member) override {
    return pass_on_here(envelope, member);
  }
  bool to_relay(const Envelope& envelope, const std::string& relay) override;
  void answer(const Return& to, const std::string& body) override;
  void refuse(std::uint8_t listener, const Envelope& envelope, std::string text,
              Errc code = Errc::kUnreachable);

  RelayFacts facts_;
  std::unique_ptr<zmq::context_t> context_;  // outlives the sockets below
  LocalDoor door_;
  std::optional<Secret> secret_;  // nullopt: no member has told it yet
  std::optional<ZmqGate> gate_;
  std::optional<ZmqSocket> inner_;
  std::optional<Front> front_;
  Forwarders<LocalLink> here_{kPassingHereMax};
  Forwarders<ZmqSocket> away_{kPassingMax};
  Merging merging_{kMerging};
  std::set<std::string> members_;  // their connections
  bool had_members_ = false;
  FellowRelays fellows_;
  TimeNs ask_at_ = 0;
  TimeNs asked_from_away_at_ = 0;
};

}  // namespace livebtl::control
