// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/restart_steps.cc -- the steps of a restore: see criu_steps.h.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text_file.h"
#include "hypervisor/criu/criu_steps.h"
#include "hypervisor/criu/dump_files.h"
#include "hypervisor/criu/places.h"

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kTextBytesMax = std::size_t{16} << 20;

/// CRIU restores the clock itself if the processes had a time namespace of their own.
bool has_own_clock(const std::string& images) {
  std::error_code broken;
  for (std::filesystem::directory_iterator each(images, broken), end; !broken && each != end;
       each.increment(broken)) {
    if (each->path().filename().string().starts_with("timens-")) return true;
  }
  return false;
}

/// If the kernel's pid counter is near the pids to be restored, moves it past them: what is started
/// from now on, CRIU itself and whatever else the node runs, then takes none of them. Threads have
/// ids close to their process's. Best effort: CRIU reports an id that is in use.
void pass_over(const std::vector<pid_t>& pids) {
  constexpr const char* kLastPid = "/proc/sys/kernel/ns_last_pid";
  constexpr pid_t kClose = 1000;
  const auto [first, last] = std::minmax_element(pids.begin(), pids.end());
  std::ifstream in(kLastPid);
  pid_t now = 0;
  constexpr pid_t kHighest = 1 << 22;  // the kernel's own limit
  if (*last > kHighest || !(in >> now) || now < *first - kClose || now >= *last + kClose) return;
  std::ofstream(kLastPid) << *last + kClose;
}

}  // namespace

RestartSteps::RestartSteps(const CriuRequest& request, const SetFile& set, const SetForm& form,
                           const std::atomic<bool>& stop, Progress progress)
    : CriuSteps(request, {set.machines.front().name}, form, stop, std::move(progress)),
      saved_(set.machines.front()) {
  node_ = saved_.name;
  hold_ = set.hold;
}

Answer RestartSteps::perform(Action action) {
  switch (action.step) {
    case Step::kLook:
      return look();
    case Step::kLoad:
      return load();
    case Step::kRestored:
      return order(job_restored(hold_), uninterrupted());
    case Step::kHalt:
      return end_processes();
    default:
      return order(verb_of(GuestOrder::kReturn, ""), afterwards());
  }
}

Answer RestartSteps::look() {
  const auto set = directory_.load();
  if (!set) return {Outcome::kFailed, code_of_set(set.error().code), set.error().text};
  const Deadline deadline = forward();
  const auto whole = directory_.verify(saved_, deadline.stop);
  if (whole) return run({request_.criu, "--version"}, deadline);
  const bool by_user = whole.error().code == Errc::kCancelled;
  return {by_user ? Outcome::kInterrupted : Outcome::kFailed, code_of_set(whole.error().code),
          whole.error().text};
}

/// Leaves nothing in the set's directory but the set.
Answer RestartSteps::load() {
  Answer answer = make_ready();
  const bool began = answer.ok();
  if (began) answer = run_to_its_end(restore_words(request_.criu, images_), kRestoreLog);
  directory_.remove_scratch();
  if (answer.ok()) note_running();
  if (!answer.ok()) answer.text += began ? what_runs() : "; nothing was restored";
  return answer;
}

/// The processes are named, not ended: such a pid may be another process's by now.
std::string RestartSteps::what_runs() const {
  const std::string there = named_processes(facts_.pids);
  return there.empty() ? "; no process of the set runs"
                       : "; these have numbers of the set's processes, and are to be ended before "
                         "another restore: " +
                             there;
}

Answer RestartSteps::make_ready() {
  auto images = directory_.make_scratch();
  if (!images) return answer_of(images.error());
  images_ = std::move(*images);
  Answer unpacked = unpack(uninterrupted());
  if (!unpacked.ok() || has_own_clock(images_)) return unpacked;
  const auto set = request_.set_clock(facts_.monotonic_s);
  return set ? Answer{} : late_answer_of(set.error());
}

/// Before a file of the job's is touched, checks that its processes are not there.
Answer RestartSteps::unpack(const Deadline& deadline) {
  Answer unpacked = run({"tar", "--extract", "--file=" + directory_.ram_path(node_),
                         "--directory=" + images_, "--no-same-owner"},
                        deadline);
  if (!unpacked.ok()) return unpacked;
  auto facts = read_text(images_ + "/" + kFactsFile, kTextBytesMax).and_then(read_facts);
  if (!facts) return {Outcome::kFailed, kCodeInconsistent, facts.error().text};
  facts_ = std::move(*facts);
  told_.user = std::to_string(facts_.owner);
  if (!facts_.job.empty()) told_.job = facts_.job;
  for (const pid_t pid : facts_.pids) {
    if (const std::string name = named_process(pid); !name.empty())
      return {Outcome::kFailed, kCodeRefused,
              "the number of a process that is to be restored is in use, by " + name +
                  ": does the job still run here?"};
  }
  pass_over(facts_.pids);
  const auto list = read_text(images_ + "/" + kFileList, kTextBytesMax);
  const Status fits = list ? check_file_list(*list) : Status(tl::unexpected(list.error()));
  if (!fits) return {Outcome::kFailed, kCodeInconsistent, fits.error().text};
  if (const auto safe = check_places(*list, facts_.owner); !safe)
    return {Outcome::kFailed, kCodeRefused, safe.error().text};
  if (Answer fit = readdress(); !fit.ok()) return fit;
  if (const auto made = make_places(*list, facts_.owner); !made) return answer_of(made.error());
  return run(unpack_words(images_, with_group(facts_.owner)), deadline);
}

/// Makes the only change to what CRIU wrote. An address that is missing here is reported before
/// CRIU is called, whose error would not name it.
Answer RestartSteps::readdress() {
  const auto no = [](const Error& why, int code) {
    return Answer{Outcome::kFailed, code, why.text};
  };
  const std::string path = images_ + "/" + kOpenFilesImage;
  const auto files = read_text(path, kOpenFilesBytesMax).and_then([&](const std::string& image) {
    return with_new_addresses(image, request_.addresses);
  });
  if (!files) return no(files.error(), kCodeInconsistent);
  if (const auto here = check_own_addresses(files->own, request_.own_addresses()); !here)
    return no(here.error(), kCodeRefused);
  moved_ = files->moved;
  return request_.addresses.empty() ? Answer{} : answer_of(write_file(path, files->image, 0600));
}

void RestartSteps::note_running() { running_ = known_processes(facts_.pids); }

Answer RestartSteps::end_processes() { return answer_of(kill_known(running_, facts_.owner)); }

}  // namespace livebtl::hypervisor
