// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_words.h -- what `btlctl checkpoint run` and `restore` say to the btlctl on
// each node of a job, and what it answers, one line each. Pure. What is read is hostile.
//
//   order   dump or restore these processes, up to the moment of no return
//   answer  all is ready, and nothing is final yet; or why not
//   kGo     do it; on any other word, or the end of input: leave the processes as they were
//   answer  it is done; if addresses changed in a restore: where that node's relay now listens
//   kKeep   all nodes succeeded; on any other word: restored processes are ended
//
// Only kUndo removes the file of a dump: if the input ends, or nothing is said for too long, other
// nodes may have been told to go, and have ended their processes, which only the whole set brings
// back.
#pragma once

#include <sys/types.h>

#include <optional>

#include "hypervisor/criu/connections.h"
#include "hypervisor/criu/new_addresses.h"
#include "hypervisor/set/set_file.h"

namespace livebtl::hypervisor {

inline constexpr const char* kGo = "go";
inline constexpr const char* kKeep = "keep";
inline constexpr const char* kUndo = "undo";

inline constexpr std::size_t kConnectionsMax = 16'384;   // that a node reports
inline constexpr std::size_t kConnectionBytesMax = 256;  // of one, as reported
inline constexpr std::size_t kRelayBytesMax = 256;       // as reported
inline constexpr TimeNs kRelayComes =
    30 * kSecond;  // how long a node waits for it before it says that there is none
inline constexpr std::size_t kNodeLineBytesMax =
    kConnectionsMax * kConnectionBytesMax + (std::size_t{1} << 16);
static_assert(kNewAddressesMax * kConnectionBytesMax < kNodeLineBytesMax);

struct NodeOrder {
  bool dumps = true;  // else: restores
  bool goes_on = false;
  std::string directory, node, job, hold;
  std::int64_t lease_left_s = 0;  // dump
  std::int64_t timeout_s = 0;
  std::uint64_t members = 0;               // restore
  SavedMachine file = {};                  // restore
  std::vector<NewAddress> addresses = {};  // restore: in place of the dump's
  std::string host = {};                   // where the order is given; not sent
};
std::string order_line(const NodeOrder& order);
/// Errors: kCorrupt.
Result<NodeOrder> read_node_order(std::string_view line);

struct NodeAnswer {
  int code = 0;
  std::string text = {};
  std::uint64_t members = 0;                    // dump: how many were dumped
  SavedMachine file = {};                       // dump
  std::vector<TcpConnection> connections = {};  // dump: whose other end is elsewhere
  std::string job = {};                         // restore: whose processes they are, ...
  std::optional<uid_t> owner = std::nullopt;    // ... as the dump recorded
  std::string relay =
      {};  // restore: as in JobHere; "": there is none yet, or its addresses are the old ones
};
std::string answer_line(const NodeAnswer& answer);
/// Errors: kCorrupt.
Result<NodeAnswer> read_node_answer(std::string_view line);

/// The words of a command that runs a program on a node, with {node} replaced.
std::vector<std::string> words_for_node(const std::string& command, const std::string& node);

}  // namespace livebtl::hypervisor
