// SPDX-License-Identifier: BSD-3-Clause
// control/wire/messages.h -- the JSON form of all messages between members, coordinators and
// btlctl.
//
// Pure; any thread. Input is hostile: size, depth, types and ranges are checked; what does not fit
// is an Error that names the field. Unknown keys are ignored, so that a newer minor version may add
// some; another schema number is refused. 64-bit ids are hex strings ("0x1f"), since many JSON
// readers have only doubles.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "control/ladder/coordinator.h"
#include "control/ladder/hold_types.h"
#include "control/ladder/ladder_types.h"
#include "control/ladder/node_group.h"
#include "control/ladder/outcome.h"
#include "control/place/page_view.h"
#include "livebtl/result.h"

namespace livebtl::control {

inline constexpr std::size_t kMessageBytesMax = 65'536;
inline constexpr int kMessageDepthMax = 16;

/// "Which members do you know?" Asked of a relay; paged, since a job may be large. job: "": any,
/// since a client from outside cannot know it.
struct MembersRequest {
  std::string job;
  std::uint32_t offset = 0;
};
/// An offset past any end: only the job's name and the relays are wanted; members are not looked
/// for.
inline constexpr std::uint32_t kNoMembers = UINT32_MAX;
struct MemberEntry {
  MemberId member;
  std::string name;
  int rank = -1;
  std::string node;
  bool gone = false;         // it has left, and this is proof
  bool left_behind = false;  // a copy, which counts only if no other process with that id is there
  friend bool operator==(const MemberEntry&, const MemberEntry&) = default;
};
/// Is this member in the list?
inline bool holds(const std::vector<MemberEntry>& members, MemberId wanted) {
  return std::any_of(members.begin(), members.end(),
                     [&](const MemberEntry& each) { return each.member == wanted; });
}
struct MembersAnswer {
  std::string job;
  std::uint32_t offset = 0;
  std::uint32_t total = 0;
  bool complete = true;  // all files could be read: a member listed before and missing now has left
  std::vector<MemberEntry> members;
  std::vector<std::string> relays;  // of other nodes, as this member has learnt them
  bool merges = false;              // this relay takes NodeRequests
};

/// "What do you use, and how much?" peers: include them, from peers_offset on.
struct StatusRequest {
  std::string job;
  bool peers = false;
  std::uint32_t peers_offset = 0;
};
/// engine.peers: one page; peers_total: of all pages.
struct StatusAnswer {
  Standing standing;
  core::EngineStatus engine;
  std::uint32_t peers_offset = 0;
  std::uint32_t peers_total = 0;
};

/// "Which transports do you have?"
struct ListRequest {
  std::string job;
};
struct ListAnswer {
  MemberId member;
  std::string name;
  int rank = -1;
  std::string node;
  std::vector<core::TransportStatus> transports;
};

/// "Tell me of changes", for lease_ms; asked again before it expires.
struct WatchRequest {
  std::string job;
  std::uint32_t lease_ms = 10'000;
};
struct WatchEvent {
  std::string kind;  // standing | joined | left
  Standing standing;
};

/// "What is the job's secret?" Asked on the member's own node, where only its user and root can
/// ask; a client that asks through a relay has proved that it knows the secret.
struct SecretRequest {
  std::string job;
};
struct SecretAnswer {
  std::string secret;  // 64 hexadecimal digits; empty: the job has none
};

/// "What does your page say?" Asked of members of other nodes: pages of this node are read
/// directly.
struct PageRequest {
  std::string job;
};
struct PageAnswer {
  PageView page;
};

/// "Where do you listen?" Asked by a member whose engine has something for this one and cannot
/// reach it.
struct AddressesRequest {
  std::string job;
  std::uint64_t question = 0;  // random; comes back with the answer
};
struct AddressesAnswer {
  MemberId member;
  std::uint64_t question = 0;  // as it was asked
  core::Contacts addresses;    // at most 8
};

/// A request that could not be carried out. Also the answer to one that could not be read.
struct ErrorAnswer {
  Errc code = Errc::kInvalid;
  std::string text;
};

using Message =
    std::variant<StandingRequest, PromiseRequest, Order, LadderEnd, Standing, PlanRequest,
                 PlanAnswer, MembersRequest, MembersAnswer, StatusRequest, StatusAnswer,
                 ListRequest, ListAnswer, WatchRequest, WatchEvent, SecretRequest, SecretAnswer,
                 AddressesRequest, AddressesAnswer, HoldRequest, HoldAnswer, ErrorAnswer,
                 PageRequest, PageAnswer, NodeRequest, NodeStanding>;

/// At most kMessageBytesMax: lists for people are cut; a message that still does not fit is an
/// Error (kLimit). Strings are made valid UTF-8.
Result<std::string> encode(const Message& message);
/// Errors: kInvalid (with the field), kUnsupported (a schema that we do not speak), kLimit (too
/// long or too deep).
Result<Message> decode(std::string_view text);
/// `answer`, with peers (pairs) cut from the end until it fits into one message.
StatusAnswer fit_page(StatusAnswer answer);
PageAnswer fit_page(PageAnswer answer);
/// If a page of members would be too long, some relays are left out, and then members from its end,
/// but not all: the next page begins with those.
MembersAnswer fit_page(MembersAnswer answer);
/// Begins the list at another entry each time, so that each entry is in some of several answers
/// that leave out the list's end.
void turn_by(std::vector<std::string>& list, std::size_t times);
/// As many messages as it takes. A standing that is too long even by itself is left out.
std::vector<std::string> encode_parts(NodeStanding answer);

/// For `--json`: the outcome as a document, "livebtl.outcome/1". One way only.
std::string outcome_json(const Outcome& outcome);

}  // namespace livebtl::control
