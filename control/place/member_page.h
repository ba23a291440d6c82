// SPDX-License-Identifier: BSD-3-Clause
// control/place/member_page.h -- a member's page: what the member is, where it stands, what it has
// counted and its last switches, in a file beside its card that others read without asking it.
//
// <process id>.page, mapped by its owner, has a fixed size and form. Two parts change, each with
// one writer: the agent or the engine (core/engine/engine_page.h), which only store into memory.
// Readers: page_reader.h. Threads: made, written and destroyed by the agent's.
#pragma once

#include <memory>
#include <string>

#include "control/ladder/history.h"
#include "control/place/job.h"
#include "core/engine/engine_page.h"

namespace livebtl::control {

inline constexpr std::uint64_t kPageMagic = 0x6c7462657669'6c70;
inline constexpr std::uint32_t kPageVersion = 3;

struct PageHeader {
  std::uint64_t magic;
  std::uint32_t version, bytes;
  std::uint64_t process, run;
  std::int32_t pid, rank;
  std::uint32_t announced, incarnation;
  core::PageText<64> job, host, name;
  core::PageText<16> node;
};

struct RungPage {
  std::int64_t ordered_ns, reached_ns;
  std::uint8_t rung, undoing, reached, unused[5];
  core::PageText<96> waited_for;
};

struct SwitchPage {
  std::uint64_t operation, began_unix_ns;
  std::uint32_t epoch, pairs_moved, pairs_left;
  std::uint8_t end, rungs_shown, unused[2];
  core::PageText<16> verb, node;
  core::PageText<96> arguments;  // separated by blanks
  core::PageText<kByBytesMax> ordered_by, finished_by;
  core::PageText<128> refusal;
  std::array<RungPage, kRungsKept> rung;
};

struct StandingPage {
  std::uint64_t unix_ns;  // when it was written
  std::int64_t clock_ns;  // ... by the clock of the engine's part
  std::uint64_t term, coordinator, seq, operation;
  std::uint32_t epoch, switches_shown;
  std::uint8_t rung, reached, undoing, joining, busy, left_open, unused[2];
  core::PageText<160> doing;  // "switch sm tcp"; "": no operation was ever ordered
  core::PageText<128> refusal;
  core::PageText<128> waiting;
  core::PageText<256> routing;  // for people
  std::array<SwitchPage, kSwitchesKept> switch_;
};

struct PageFile {
  PageHeader header;
  SequenceLatch<StandingPage> standing;
  core::EnginePageLatch engine;
};

std::string page_path(const std::string& directory, ProcessId process);

class MemberPage {
 public:
  /// Before the card is published: whoever finds the card finds this. Errors: kSystem (e.g. no
  /// room).
  static Result<MemberPage> make(const JobFacts& job, MemberId self);
  MemberPage(MemberPage&& other) noexcept = default;
  MemberPage& operator=(MemberPage&&) = delete;
  ~MemberPage();

  /// Where the engine shows itself, while this object lives.
  core::EnginePageLatch& engine() noexcept { return mapped_->engine; }
  void write(const Standing& standing, const History& history) noexcept;
  const PageFile& image() const noexcept { return *mapped_; }

 private:
  struct Unmap {
    void operator()(PageFile* page) const noexcept;
  };
  MemberPage(std::string path, PageFile* mapped) : path_(std::move(path)), mapped_(mapped) {}

  std::string path_;
  std::unique_ptr<PageFile, Unmap> mapped_;
};

}  // namespace livebtl::control
