// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/criu_steps.cc -- what dump and restore share, and the steps of a dump: see
// criu_steps.h.
#include "hypervisor/criu/criu_steps.h"

#include <ctime>
#include <filesystem>

#include "base/hex.h"
#include "base/secret.h"
#include "base/text_file.h"
#include "hypervisor/criu/dump_files.h"
#include "hypervisor/criu/places.h"
#include "hypervisor/criu/process_tree.h"
#include "hypervisor/criu/unix_links.h"
#include "hypervisor/vm/child.h"
#include "hypervisor/vm/program.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kProgramGrace = 15 * kSecond;
constexpr TimeNs kRootEnds = 2 * kSecond;  // the kernel takes a while to end a killed process
constexpr TimeNs kRootLook = 20 * kMillisecond;
constexpr std::size_t kLogBytesMax = std::size_t{256} << 20;

std::string time_now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

CriuSteps::CriuSteps(const CriuRequest& request, const std::string& node,
                     const std::atomic<bool>& stop, Progress progress)
    : CriuSteps(request, {node}, kProcessSet, stop, std::move(progress)) {
  node_ = node;
}

CriuSteps::CriuSteps(const CriuRequest& request, std::vector<std::string> nodes,
                     const SetForm& form, const std::atomic<bool>& stop, Progress progress)
    : Steps(request.timeout, stop, std::move(progress)),
      request_(request),
      told_(request.job),
      directory_(request.directory, std::move(nodes), form) {}

Answer CriuSteps::order(const Verb& verb, const Deadline& deadline) {
  const TimeNs left = std::max(kSecond, deadline.at - monotonic_now());
  const auto finished =
      run_program(words_of(told_, verb, left), {monotonic_now() + left + kProgramGrace, nullptr},
                  kProgramGrace);
  if (!finished) return late_answer_of(finished.error());
  const GuestAnswer said = read_answer(*finished);
  if (said.members != 0) members_ = said.members;
  if (said.code == kCodeDone) return {};
  return {Outcome::kFailed, code_undone(said.code), said.text};
}

Answer CriuSteps::run(const Words& words, const Deadline& deadline, const std::string& log) {
  const auto finished = run_program(words, {deadline.at, nullptr}, kProgramGrace);
  if (!finished) {
    Answer answer = late_answer_of(finished.error());
    if (finished.error().code == Errc::kNotFound) answer.code = kCodeNotFound;
    return answer;
  }
  return ended(words, *finished, log);
}

Answer CriuSteps::run_to_its_end(const Words& words, const std::string& log) {
  return run(words, {kNever, nullptr}, log);
}

Answer CriuSteps::ended(const Words& words, const Finished& finished,
                        const std::string& log) const {
  if (finished.code == 0) return {};
  std::string why = one_line(finished.errors);
  for (const std::string& file : {log, std::string(kScriptLog)}) {
    const std::string text = read_text(images_ + "/" + file, kLogBytesMax).value_or("");
    const std::string said = file == log ? last_error(text) : one_line(text);
    if (!log.empty() && !said.empty()) why = said;
  }
  return {
      Outcome::kFailed, kCodeTakenBack,
      words[0] + " " + words[1] + " ended with code " + std::to_string(finished.code) + ": " + why};
}

Answer CriuSteps::wait_for_links(const std::vector<pid_t>& tree) const {
  const auto link = wait_for_unix_links(tree, uninterrupted());
  if (!link) return {};
  return {Outcome::kFailed, kCodeTakenBack,
          *link + ", which is not dumped with the job; end one of the two, or try again"};
}

Answer DumpSteps::perform(Action action) {
  const Deadline there = action.back ? afterwards() : uninterrupted();
  switch (action.step) {
    case Step::kLook:
      return look();
    case Step::kClaim:
      return claim();
    case Step::kPrepare:
      return prepare();
    case Step::kHold:
      return hold_job();
    case Step::kSave:
      return save();
    case Step::kCheck:
      return order(hold_check(hold_), there);
    case Step::kSeal:
      return seal();
    case Step::kEndHold: {
      // A hold that never came to be, or was broken, counts as ended.
      Answer answer = order(hold_end(hold_), afterwards());
      return action.back && answer.code == kCodeInconsistent ? Answer{} : answer;
    }
    case Step::kReturn:
      return order(verb_of(GuestOrder::kReturn, ""), afterwards());
    default:
      return answer_of(directory_.discard());
  }
}

Answer DumpSteps::look() {
  const auto holds = directory_.look();
  if (!holds)
    return {Outcome::kFailed,
            holds.error().code == Errc::kRefused ? kCodeRefused : code_of(holds.error().code),
            holds.error().text};
  if (*holds == SetDirectory::Holds::kSet)
    return {Outcome::kFailed, kCodeRefused,
            request_.directory + " holds a set already; give another directory"};
  auto job = request_.find_job();
  if (!job) return answer_of(job.error());
  job_ = std::move(*job);
  if (job_.elsewhere && request_.node_command.empty())
    return {
        Outcome::kFailed, kCodeRefused,
        "the job has, or may get, processes on other nodes (LIVEBTL_RELAY=on, say); --node-command "
        "'ssh {node}', say, tells how btlctl is run there"};
  told_.job = job_.id;
  told_.user = std::to_string(job_.owner);
  const auto root = root_of_user(job_.members, job_.launched, job_.owner);
  if (!root)
    return {Outcome::kFailed, root.error().code == Errc::kRefused ? kCodeRefused : kCodeNotFound,
            root.error().text};
  root_ = *root;
  tree_ = tree_below(root_);
  return run({request_.criu, "--version"}, forward());
}

Answer DumpSteps::claim() {
  if (const auto made = directory_.prepare(); !made) return answer_of(made.error());
  auto images = directory_.make_scratch();
  if (!images) return answer_of(images.error());
  images_ = std::move(*images);
  draw_hold();
  return {};
}

void DumpSteps::draw_hold() { hold_ = "0x" + hex_digits(random_u64() | 1, 16); }

/// Shared memory is left as well as what is bound to a device: CRIU 3.17 cannot dump a process
/// descriptor, by which a peer's end is noticed. A job that has no sm has left it already.
Answer DumpSteps::prepare() {
  Answer devices = order({"checkpoint", "prepare"}, uninterrupted());
  if (!devices.ok()) return devices;
  const Answer memory = order({"checkpoint", "prepare", "sm"}, uninterrupted());
  return !memory.ok() && memory.code == kCodeNotFound ? Answer{} : memory;
}

Answer DumpSteps::hold_job() {
  lease_over_s_ = uptime_s() + request_.lease / kSecond;
  return order(hold_start(hold_, request_.lease), uninterrupted());
}

Answer DumpSteps::save() {
  tree_ = tree_below(root_);
  if (Answer apart = wait_for_links(tree_); !apart.ok()) return apart;
  const TimeNs left = uninterrupted().at - monotonic_now();
  const std::string script =
      dump_script(images_, directory_.ram_path(node_), {lease_over_s_, uptime_s() + left / kSecond},
                  with_group(job_.owner));
  if (const auto written = write_dump_files(images_, {job_, root_, tree_}, script); !written)
    return late_answer_of(written.error());
  const auto file = directory_.create(node_);  // for its mode; tar fills it
  if (!file) return late_answer_of(file.error());
  if (Answer own = check_users(root_, job_.owner); !own.ok()) return own;
  Answer dumped =
      run_to_its_end(dump_words(request_.criu, root_, images_, request_.goes_on, left), kDumpLog);
  if (!dumped.ok() && is_only_copy()) {
    unsure_ = "this node: " + dumped.text;
    return {};
  }
  if (!dumped.ok() || !request_.goes_on) return dumped;
  return check_tree();
}

/// As they are now: a pid may have been reused since it was looked up, and CRIU ends whatever has
/// it.
Answer CriuSteps::check_users(pid_t root, uid_t owner) {
  const Status own = check_owner(tree_below(root), owner);
  return own ? Answer{} : Answer{Outcome::kFailed, kCodeRefused, own.error().text};
}

/// Whether CRIU was killed while it ended the processes, the root first: then they are in the set
/// and nowhere else.
bool DumpSteps::is_only_copy() const {
  if (request_.goes_on || !std::filesystem::exists(images_ + "/" + kArchivedFile)) return false;
  const Deadline deadline{monotonic_now() + kRootEnds, nullptr};
  while (!named_process(root_).empty()) {
    if (monotonic_now() >= deadline.at) return false;
    pause(kRootLook, deadline);
  }
  return true;
}

/// A process that was started after the look is in the images, but a restore would not look for it.
Answer DumpSteps::check_tree() {
  if (tree_below(root_) == tree_) return {};
  return {Outcome::kFailed, kCodeTakenBack,
          "processes of the job began or ended while it was dumped; try again"};
}

Answer DumpSteps::seal() {
  if (const auto removed = directory_.remove_scratch(); !removed) return answer_of(removed.error());
  return answer_of(directory_.seal(set_of({SavedMachine{node_, 0, {}}})));
}

SetFile DumpSteps::set_of(std::vector<SavedMachine> machines) const {
  return {hold_, time_now_text(), members_, std::move(machines)};
}

}  // namespace livebtl::hypervisor
