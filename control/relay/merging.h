// SPDX-License-Identifier: BSD-3-Clause
// control/relay/merging.h -- a relay's questions to the members of its node and to other relays, on
// behalf of a client: NodeMerge with messages and ways.
//
// Unlike Passing it keeps state, which is lost with the relay; the client then asks again. Threads:
// one. All bodies are hostile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/ladder/node_merge.h"
#include "control/wire/envelope.h"
#include "control/wire/messages.h"
#include "control/wire/route.h"

namespace livebtl::control {

class Merging {
 public:
  /// How the relay reaches others.
  class Ways {
   public:
    /// Proof that a member of this node has ended.
    virtual bool has_ended(ProcessId member) const = 0;
    virtual bool to_member(const Envelope& envelope, ProcessId member) = 0;
    virtual bool to_relay(const Envelope& envelope, const std::string& relay) = 0;
    virtual void answer(const Return& to, const std::string& body) = 0;

   protected:
    ~Ways() = default;
  };

  /// listener: marks answers to our questions in their return route.
  explicit Merging(std::uint8_t listener) : listener_(listener) {}

  void ask(const Return& client, const NodeRequest& request, TimeNs now, Ways& ways);
  struct Sender {
    std::optional<ProcessId> member;  // of this node
    std::string relay;                // else: its endpoints, as the question named it
  };
  /// Something has come back to a question of ours.
  void bring_back(const Return& to, const Sender& from, const std::string& body, TimeNs now,
                  Ways& ways);
  void turn(TimeNs now, Ways& ways);
  TimeNs wake_at() const noexcept { return merge_.wake_at(); }

 private:
  void carry_out(const std::vector<MergeAction>& actions, TimeNs now, Ways& ways);
  void carry_out(const ToMembers& asked, TimeNs now, Ways& ways);
  void carry_out(const ToRelay& asked, TimeNs now, Ways& ways);
  void carry_out(const ToClient& told, TimeNs now, Ways& ways);
  Envelope question(std::uint64_t session, std::uint32_t via, std::string body) const;

  std::uint8_t listener_;
  NodeMerge merge_;
};

}  // namespace livebtl::control
