// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/guest_job.h -- the job in a guest, commanded by the guest's own btlctl through the
// guest agent. One thread at a time; borrows the agent.
#pragma once

#include "hypervisor/vm/child.h"
#include "hypervisor/vm/guest_agent.h"

namespace livebtl::hypervisor {

// The one place that spells these commands.
inline constexpr const char* kPrepareWords[] = {"checkpoint", "prepare"};
inline constexpr const char* kReturnWords[] = {"checkpoint", "return"};

inline constexpr TimeNs kPrepareMax = 30 * kSecond;  // for one call of the guest's btlctl
inline constexpr TimeNs kCardMax = 180 * kSecond;    // until the guest can use what was plugged in
inline constexpr TimeNs kAgentGrace = 15 * kSecond;  // until we hear that the guest's btlctl ended

enum class GuestOrder { kPrepare, kReturn };

/// The arguments of the guest's btlctl after --json, --timeout, --job and --user.
using Verb = std::vector<std::string>;
/// `node`: the only node the order is for; "": for all nodes.
Verb verb_of(GuestOrder order, const std::string& node);
Verb hold_start(const std::string& id, TimeNs lease);
Verb hold_renew(const std::string& id, TimeNs lease);
Verb hold_check(const std::string& id);
Verb hold_end(const std::string& id);
/// `relays`: as `btlctl job restored` takes them, of nodes that members here may not know.
Verb job_restored(const std::string& id, const std::vector<std::string>& relays = {});

struct GuestJob {
  std::string btlctl = "btlctl";  // in the guest
  std::string job;                // "": the guest's only one
  std::string user = {};          // the job's user; "": as without --user
};

/// What the guest's btlctl answered; `code` is its exit code.
struct GuestAnswer {
  int code = 0;
  std::string text = {};
  bool no_job = false;  // there is no job to command
  std::uint64_t members = 0;
  std::string absent = {};  // kReturn: what the job still waits for, in the background
};

struct Tries {
  TimeNs each = 0;          // the time-out of the guest's btlctl
  TimeNs until = 0;         // no call begins after this
  bool card_comes = false;  // one was just plugged in: the guest's driver may not have it yet
  TimeNs end = kNever;      // waiting for an answer ends here
};
/// Uses the time left until `limit`; an answer that is on its way then gets a little longer.
Tries tries_until(TimeNs limit, bool card_comes);

/// --job and --user, as far as they are known.
std::vector<std::string> words_naming(const GuestJob& job);
std::vector<std::string> words_of(const GuestJob& job, const Verb& verb, TimeNs timeout);
/// Runs the verb once, without repeating it.
Result<GuestAnswer> give_verb(GuestAgent& agent, const GuestJob& job, const Verb& verb,
                              const Tries& tries);
/// Runs the order, and repeats it while the job is busy with another order (of a btlctl that was
/// killed, say) or lacks a card that is on its way. Not interrupted: what runs in the guest would
/// go on unsupervised.
Result<GuestAnswer> give_order(GuestAgent& agent, const GuestJob& job, GuestOrder order,
                               const Tries& tries);
/// The same; `node` as in verb_of().
Result<GuestAnswer> give_order(GuestAgent& agent, const GuestJob& job, GuestOrder order,
                               const std::string& node, const Tries& tries);
/// Checks and reads what the guest's btlctl printed; `order`: the order it was given, if any.
GuestAnswer read_answer(const Finished& finished, std::optional<GuestOrder> order = std::nullopt);

}  // namespace livebtl::hypervisor
