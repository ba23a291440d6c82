// SPDX-License-Identifier: BSD-3-Clause
// control/place/member_page.cc -- see member_page.h.
#include "control/place/member_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/process_files.h"
#include "control/place/fork_watch.h"
#include "control/place/member_file.h"

namespace livebtl::control {
namespace {

/// The words, separated by blanks.
std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string title_of_page(const Operation& operation) {
  if (operation.id == 0) return "";
  std::string text = operation.verb;
  for (const std::string& word : operation.arguments) text += " " + word;
  return operation.node.empty() ? text : text + " on node:" + operation.node;
}

void add_rules(std::string& text, const core::Rules& rules, const std::string& where) {
  const auto add = [&](const std::string& words) {
    text += (text.empty() ? "" : ", ") + words + where;
  };
  for (const std::string& name : rules.excluded) add(name + " excluded");
  for (const std::string& name : rules.quiesced) add(name + " quiesced");
  for (const auto& [from, to] : rules.moved) add(from + " moved to " + to);
}

std::string text_of_routing(const Routing& routing) {
  std::string text;
  add_rules(text, routing, "");
  for (const auto& [node, rules] : routing.nodes) add_rules(text, rules, " on node:" + node);
  return text;
}

RungPage page_of(const RungRecord& record) noexcept {
  RungPage page{};
  page.ordered_ns = record.ordered_ns;
  page.reached_ns = record.reached_ns;
  page.rung = static_cast<std::uint8_t>(record.rung);
  page.undoing = record.undoing ? 1 : 0;
  page.reached = record.reached ? 1 : 0;
  page.waited_for = record.waited_for;
  return page;
}

void fill(SwitchPage& page, const SwitchRecord& record) {
  page = {};
  page.operation = record.operation;
  page.began_unix_ns = record.began_unix_ns;
  page.epoch = record.epoch;
  page.pairs_moved = record.pairs_moved;
  page.pairs_left = record.pairs_left;
  page.end = static_cast<std::uint8_t>(record.end);
  page.verb = record.verb;
  page.node = record.node;
  page.arguments = spaced(record.arguments);
  page.ordered_by = record.ordered_by;
  page.finished_by = record.finished_by;
  page.refusal = record.refusal;
  for (const RungRecord& rung : record.rungs) page.rung[page.rungs_shown++] = page_of(rung);
}

void fill(PageHeader& header, const JobFacts& job, MemberId self) {
  header.version = kPageVersion;
  header.bytes = sizeof(PageFile);
  header.process = static_cast<std::uint64_t>(self.process);
  header.incarnation = static_cast<std::uint32_t>(self.incarnation);
  header.run = static_cast<std::uint64_t>(job.run);
  header.pid = ::getpid();
  header.rank = job.rank;
  header.announced = job.announced;
  header.job = job.id;
  header.host = job.host;
  header.name = job.label;
  header.node = process_name(ProcessId{job.node});
  header.magic = kPageMagic;
}

Error no_page(const std::string& path) {
  return {Errc::kSystem, "cannot make " + path + ": " + std::strerror(errno) +
                             "; btlctl top, history and metrics do not show this process"};
}

}  // namespace

std::string page_path(const std::string& directory, ProcessId process) {
  return directory + "/" + process_file(process, kPageFile);
}

// Allocates and maps all its blocks, so that no later store meets a full file system or a missing
// page.
Result<MemberPage> MemberPage::make(const JobFacts& job, MemberId self) {
  const std::string path = page_path(job.directory, self.process);
  const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return tl::unexpected(no_page(path));
  errno = ::posix_fallocate(fd.number(), 0, sizeof(PageFile));
  void* const at = errno != 0 ? MAP_FAILED
                              : ::mmap(nullptr, sizeof(PageFile), PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_POPULATE, fd.number(), 0);
  if (at == MAP_FAILED) {
    const Error error = no_page(path);
    ::unlink(path.c_str());
    return tl::unexpected(error);
  }
  auto* const file = new (at) PageFile{};
  fill(file->header, job, self);
  return MemberPage(path, file);
}

MemberPage::~MemberPage() {
  if (mapped_ && !in_forked_child()) ::unlink(path_.c_str());
}

void MemberPage::Unmap::operator()(PageFile* page) const noexcept {
  ::munmap(page, sizeof(PageFile));
}

void MemberPage::write(const Standing& standing, const History& history) noexcept {
  StandingPage& page = mapped_->standing.to_fill();
  page = {};
  page.unix_ns = unix_now_ns();
  page.clock_ns = monotonic_now();
  page.term = standing.term.number;
  page.coordinator = standing.term.coordinator;
  page.seq = standing.seq;
  page.operation = standing.operation.id;
  page.epoch = standing.epoch;
  page.rung = static_cast<std::uint8_t>(standing.rung);
  page.reached = standing.reached ? 1 : 0;
  page.undoing = standing.undoing ? 1 : 0;
  page.joining = standing.joining ? 1 : 0;
  page.busy = standing.busy ? 1 : 0;
  page.left_open = standing.left_open ? 1 : 0;
  page.doing = title_of_page(standing.operation);
  page.refusal = standing.report.refusal;
  if (!standing.reached && !standing.report.waiting.empty())
    page.waiting = standing.report.waiting.front();
  page.routing = text_of_routing(standing.routing);
  for (const SwitchRecord& record : history.switches())
    fill(page.switch_[page.switches_shown++], record);
  mapped_->standing.publish();
}

}  // namespace livebtl::control
