// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/node_side.cc -- see node_side.h.
#include "hypervisor/criu/node_side.h"

#include <filesystem>

#include "hypervisor/criu/criu_steps.h"
#include "hypervisor/criu/dump_files.h"
#include "hypervisor/criu/node_words.h"
#include "hypervisor/criu/places.h"
#include "hypervisor/criu/process_tree.h"
#include "hypervisor/criu/waiting_criu.h"

namespace livebtl::hypervisor {
namespace {

const std::atomic<bool> kNeverStopped{false};
constexpr TimeNs kOrderComes = 120 * kSecond;
constexpr TimeNs kBeyondTimeout = 60 * kSecond;  // the caller's way back begins after its time-out
constexpr TimeNs kRelayLookedFor = 100 * kMillisecond;

/// What the caller says next; nullopt if it is gone, or so late that it must be.
std::optional<std::string> next_word(const NodeDoor& door, const CriuRequest& request) {
  return door.hear(request.timeout + kBeyondTimeout);
}

CriuRequest request_of(const CriuRequest& tools, const NodeOrder& order) {
  CriuRequest request = tools;
  request.directory = order.directory;
  request.node = order.node;
  request.goes_on = order.goes_on;
  request.addresses = order.addresses;
  request.timeout = order.timeout_s * kSecond;
  return request;
}

/// Answers the caller, who waits for it.
void say(const NodeDoor& door, const Answer& answer, NodeAnswer said = {}) {
  said.code = answer.ok() ? kCodeDone : answer.code;
  said.text = answer.text;
  door.say(answer_line(said));
}

class NodeDump : public CriuSteps {
 public:
  NodeDump(const CriuRequest& request, const NodeOrder& order)
      : CriuSteps(request, {order.node}, kNodesSet, kNeverStopped, [](const std::string&) {}),
        order_(order),
        until_s_(uptime_s() + order.lease_left_s) {
    node_ = order.node;
  }
  Answer perform(Action) override { return {}; }

  int serve(const NodeDoor& door) {
    NodeAnswer said;
    Answer answer = begin(said);
    say(door, answer, said);
    auto heard = answer.ok() ? next_word(door, request_) : kUndo;
    const bool goes = heard == kGo;
    // If the mark cannot be made, the dump is still good.
    if (goes) (void)directory_.keep(node_);
    if (goes) say(door, answer = end(true));
    if (!goes && criu_.started()) end(false);
    relay_stilled_.reset();  // commands reach this node again
    directory_.remove_scratch();
    if (goes && order_.goes_on) heard = next_word(door, request_);
    if (heard == kUndo) directory_.discard();
    const bool kept = goes && answer.ok() && (!order_.goes_on || heard == kKeep);
    return kept ? kCodeDone : kCodeTakenBack;
  }

 private:
  /// Returns once all stand still and the archive is written.
  Answer begin(NodeAnswer& said) {
    if (Answer found = find_tree(said); !found.ok()) return found;
    if (std::filesystem::exists(order_.directory + "/" + kSetFile))
      return {Outcome::kFailed, kCodeRefused,
              order_.directory + " holds a set already; give another directory"};
    if (const auto free = directory_.look_for_kept(); !free)
      return {Outcome::kFailed, kCodeRefused, free.error().text};
    if (const auto made = directory_.prepare(); !made) return answer_of(made.error());
    auto images = directory_.make_scratch();
    if (!images) return answer_of(images.error());
    images_ = std::move(*images);
    auto stilled = request_.still_relay();
    if (!stilled) return late_answer_of(stilled.error());
    relay_stilled_ = std::move(*stilled);
    tree_ = tree_below(root_);
    if (Answer apart = wait_for_links(tree_); !apart.ok()) return apart;
    if (Answer written = write_files(); !written.ok()) return written;
    return call_criu(said);
  }

  Answer write_files() {
    const TimeNs left = uninterrupted().at - monotonic_now();
    const std::string script =
        dump_script(images_, directory_.ram_path(node_), {until_s_, uptime_s() + left / kSecond},
                    with_group(job_.owner), true);
    if (const auto written = write_dump_files(images_, {job_, root_, tree_}, script); !written)
      return late_answer_of(written.error());
    if (const auto file = directory_.create(node_); !file) return late_answer_of(file.error());
    return {};
  }

  Answer find_tree(NodeAnswer& said) {
    auto job = request_.find_job();
    if (!job) return answer_of(job.error());
    job_ = std::move(*job);
    if (job_.id != order_.job)
      return {Outcome::kFailed, kCodeNotFound, "there is no process of job " + order_.job};
    const auto root = root_of_user(job_.members, job_.launched, job_.owner);
    if (!root) return {Outcome::kFailed, kCodeRefused, root.error().text};
    root_ = *root;
    said.members = job_.members.size();
    return {};
  }

  Answer call_criu(NodeAnswer& said) {
    const Deadline deadline = uninterrupted();
    if (Answer own = check_users(root_, job_.owner); !own.ok()) return own;
    words_ =
        dump_words(request_.criu, root_, images_, order_.goes_on, deadline.at - monotonic_now());
    if (const auto ready = criu_.start(words_, images_, deadline); !ready)
      return not_ready(ready.error());
    if (tree_below(root_) != tree_)
      return {Outcome::kFailed, kCodeTakenBack,
              "processes of the job began or ended while it was dumped; try again"};
    said.connections = connections_out_of(tree_);
    if (const std::size_t count = said.connections.size(); count > kConnectionsMax) {
      said.connections.clear();
      return {Outcome::kFailed, kCodeTakenBack,
              std::to_string(count) + " connections lead out of this node, but only " +
                  std::to_string(kConnectionsMax) + " can be compared; spread the job over less"};
    }
    said.file.name = node_;
    return answer_of(directory_.sync_ram(said.file));
  }

  /// CRIU's own words tell more than that it ended.
  Answer not_ready(const Error& error) {
    Answer told = criu_.started() ? end(false) : Answer{};
    return told.ok() ? late_answer_of(error) : told;
  }

  Answer end(bool goes) {
    const auto finished = criu_.finish(goes);
    return finished ? ended(words_, *finished, kDumpLog) : late_answer_of(finished.error());
  }

  const NodeOrder& order_;
  std::int64_t until_s_;
  JobHere job_;
  pid_t root_ = 0;
  std::vector<pid_t> tree_;
  Fd relay_stilled_;
  Words words_;
  WaitingCriu criu_;
};

SetFile set_of(const NodeOrder& order) { return {order.hold, "", order.members, {order.file}}; }

class NodeRestart : public RestartSteps {
 public:
  NodeRestart(const CriuRequest& request, const NodeOrder& order)
      : RestartSteps(request, set_of(order), kNodesSet, kNeverStopped, [](const std::string&) {}) {}

  int serve(const NodeDoor& door) {
    Answer answer = begin();
    say(door, answer, {.job = facts_.job, .owner = facts_.owner});
    const bool goes = answer.ok() && next_word(door, request_) == kGo;
    if (goes) answer = end(true);
    if (goes && answer.ok()) note_running();
    const bool awaits_relay = goes && answer.ok() && moved_;
    if (goes) say(door, answer, {.relay = awaits_relay ? wait_for_relay() : ""});
    if (!goes && criu_.started()) end(false);
    directory_.remove_scratch();
    const bool kept = goes && answer.ok() && next_word(door, request_) == kKeep;
    if (goes && !kept && !end_processes().ok()) return kCodeNotReturned;
    return kept ? kCodeDone : kCodeTakenBack;
  }

 private:
  Answer begin() {
    if (const auto opened = directory_.open(); !opened) return answer_of(opened.error());
    if (const auto whole = directory_.verify(saved_, nullptr); !whole)
      return {Outcome::kFailed, code_of_set(whole.error().code), whole.error().text};
    if (Answer ready = make_ready(); !ready.ok()) return ready;
    const std::string script = images_ + "/" + kRestoreScriptFile;
    if (const auto written = write_file(script, restore_script(images_), 0700); !written)
      return late_answer_of(written.error());
    words_ = restore_words(request_.criu, images_, true);
    const auto ready = criu_.start(words_, images_, uninterrupted());
    return ready ? Answer{} : not_ready(ready.error());
  }

  Answer not_ready(const Error& error) {
    Answer told = criu_.started() ? end(false) : Answer{};
    return told.ok() ? late_answer_of(error) : told;
  }

  Answer end(bool goes) {
    const auto finished = criu_.finish(goes);
    Answer answer =
        finished ? ended(words_, *finished, kRestoreLog) : late_answer_of(finished.error());
    if (!answer.ok()) answer.text += what_runs();
    return answer;
  }

  /// The processes start a relay as soon as they run, but can tell the other nodes where it listens
  /// only when the hold is over. "" if there is none in time, which shows when the other nodes'
  /// processes are looked for.
  std::string wait_for_relay() const {
    const Deadline deadline{monotonic_now() + kRelayComes, nullptr};
    for (;;) {
      const auto job = request_.find_job();
      if (job && !job->relay.empty()) return job->relay;
      if (monotonic_now() >= deadline.at) return "";
      pause(kRelayLookedFor, deadline);
    }
  }

  Words words_;
  WaitingCriu criu_;
};

}  // namespace

int serve_node(const CriuRequest& tools, const NodeDoor& door) {
  const auto heard = door.hear(kOrderComes);
  const auto order = read_node_order(heard.value_or(""));
  if (!order) {
    say(door, {Outcome::kFailed, kCodeUsage, order.error().text});
    return kCodeUsage;
  }
  const CriuRequest request = request_of(tools, *order);
  return order->dumps ? NodeDump(request, *order).serve(door)
                      : NodeRestart(request, *order).serve(door);
}

}  // namespace livebtl::hypervisor
