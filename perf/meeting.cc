// SPDX-License-Identifier: BSD-3-Clause
// perf/meeting.cc -- see meeting.h.
#include "perf/meeting.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "base/fd.h"

namespace livebtl::perf {
namespace {

constexpr std::uint64_t kMagic = 0x3166'7265'706c'7462;  // "btlperf1"
constexpr std::size_t kAgreementMax = 4096;
constexpr std::size_t kFileMax = 8 + 2 * sizeof(Address) + kAgreementMax;
constexpr int kLookEveryMs = 2;

/// The content of a process's file.
struct Card {
  Address mine, theirs;
  std::string agreement;
};

Status cannot_write(const std::string& path) {
  return fail(Errc::kSystem, path + " cannot be written: " + std::strerror(errno) +
                                 "; does the directory exist, and is it yours?");
}

Status write_card(const std::string& path, const Card& card) {
  ByteWriter writer;
  writer.put(kMagic);
  writer.put(card.mine);
  writer.put(card.theirs);
  writer.put_bytes(as_bytes(card.agreement));
  const std::string made = path + ".new";
  ::unlink(made.c_str());
  const Fd file(::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const auto size = static_cast<ssize_t>(writer.blob().size());
  if (!file || ::write(file.number(), writer.blob().data(), writer.blob().size()) != size ||
      ::rename(made.c_str(), path.c_str()) != 0)
    return cannot_write(path);
  return {};
}

/// nullopt: it is not there, or is none of ours.
std::optional<Card> read_card(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!file || ::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  std::array<std::byte, kFileMax + 1> content{};
  const ssize_t size = ::read(file.number(), content.data(), content.size());
  if (size < 0 || static_cast<std::size_t>(size) > kFileMax) return std::nullopt;
  ByteReader reader(Bytes(content.data(), static_cast<std::size_t>(size)));
  if (reader.take<std::uint64_t>() != kMagic) return std::nullopt;
  Card card;
  card.mine = reader.take<Address>();
  card.theirs = reader.take<Address>();
  const Bytes rest = reader.rest();
  card.agreement.assign(reinterpret_cast<const char*>(rest.data()), rest.size());
  return reader.ok() ? std::optional(card) : std::nullopt;
}

std::string shown(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  }
  return text;
}

}  // namespace

std::string Meeting::file_of(int of_rank) const {
  return directory + "/btlperf-" + job + "." + std::to_string(of_rank);
}

Result<Address> meet(const Meeting& meeting, const Address& mine, TimeNs timeout) {
  const std::string path = meeting.file_of(meeting.rank);
  Card ours{mine, {}, meeting.agreement};
  if (const auto written = write_card(path, ours); !written) return tl::unexpected(written.error());
  const TimeNs end = monotonic_now() + timeout;
  for (;;) {
    const auto theirs = read_card(meeting.file_of(1 - meeting.rank));
    if (theirs && !(theirs->mine == ours.theirs)) {
      ours.theirs = theirs->mine;
      if (const auto written = write_card(path, ours); !written)
        return tl::unexpected(written.error());
    }
    if (theirs && theirs->theirs == mine) {
      if (theirs->agreement == meeting.agreement) return theirs->mine;
      return fail(Errc::kInvalid,
                  "the two processes were told different things: " + meeting.agreement + " here, " +
                      shown(theirs->agreement) + " there; give both the same test and options");
    }
    if (monotonic_now() >= end)
      return fail(Errc::kTimeout, "the other process did not come to " + meeting.directory +
                                      "; start it with the same --job and --meet, and --rank " +
                                      std::to_string(1 - meeting.rank));
    ::poll(nullptr, 0, kLookEveryMs);
  }
}

void remove_file(const Meeting& meeting) noexcept {
  ::unlink(meeting.file_of(meeting.rank).c_str());
}

}  // namespace livebtl::perf
