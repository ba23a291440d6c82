// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_words.h -- what `btlctl checkpoint run` and `restore` say to the btlctl on each node of a job, and
// what that answers: a line each. Pure. What is read is hostile.
//
//   order   dump or restore these processes, up to the moment of no return
//   answer  all is ready, and nothing is undone yet; or why not
//   kGo     do it; whatever else, or the end of what is said: let the processes be as they were
//   answer  it is done; of a restore by other addresses: where the job's relay of that node listens now
//   kKeep   all of it holds everywhere; whatever else: restored processes are ended
//
// The file of a dump is removed by kUndo alone: if what is said ends, or nothing is said for too long, others may have been
// told to go, and have ended their processes, which only the whole set brings back.
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

inline constexpr std::size_t kConnectionsMax = 16'384;   // that a node tells of
inline constexpr std::size_t kConnectionBytesMax = 256;  // of one, as it is told
inline constexpr std::size_t kRelayBytesMax = 256;       // as it is told
inline constexpr TimeNs kRelayComes =
    30 * kSecond;  // that a node waits for it; then it says that there is none
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
  std::vector<NewAddress> addresses = {};  // restore: in the place of the dump's
  std::string host = {};                   // where it is given; not told
};
std::string order_line(const NodeOrder& order);
/// Errors: kCorrupt.
Result<NodeOrder> read_node_order(std::string_view line);

struct NodeAnswer {
  int code = 0;
  std::string text = {};
  std::uint64_t members = 0;                    // dump: that it has dumped
  SavedMachine file = {};                       // dump
  std::vector<TcpConnection> connections = {};  // dump: whose other end is elsewhere
  std::string job = {};                         // restore: whose processes they are, ...
  std::optional<uid_t> owner = std::nullopt;    // ... as the dump has written down
  std::string relay =
      {};  // restore: as JobHere has it; "": there is none yet, or its addresses are those of before
};
std::string answer_line(const NodeAnswer& answer);
/// Errors: kCorrupt.
Result<NodeAnswer> read_node_answer(std::string_view line);

/// The words of a command by which a program is run on a node, with {node} replaced.
std::vector<std::string> words_for_node(const std::string& command, const std::string& node);

}  // namespace livebtl::hypervisor
