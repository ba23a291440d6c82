// SPDX-License-Identifier: BSD-3-Clause
// control/place/page_reader.cc -- see page_reader.h.
#include "control/place/page_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/fd.h"
#include "base/fence.h"
#include "control/place/page_parts.h"

namespace livebtl::control {
namespace {

constexpr int kPageReadTries = 64;  // an owner publishes a hundred times a second at most

template <class Value>
bool copy(const PageBytes& bytes, std::size_t offset, Value& into) {
  return bytes(offset, {reinterpret_cast<std::byte*>(&into), sizeof(Value)});
}

/// Copies the complete value of a latch at `offset`. false: `wrong` says why.
template <class Value>
bool copy_latched(const PageBytes& bytes, std::size_t offset, Value& into, const char*& wrong) {
  using Latch = SequenceLatch<Value>;
  wrong = "it is shorter than a page";
  for (int i = 0; i < kPageReadTries; ++i) {
    std::uint64_t before = 0, after = 0;
    if (!copy(bytes, offset + offsetof(Latch, sequence), before)) return false;
    full_fence();
    const std::size_t at = offsetof(Latch, copies) + before % 2 * sizeof(Value);
    if (!copy(bytes, offset + at, into)) return false;
    full_fence();
    if (!copy(bytes, offset + offsetof(Latch, sequence), after)) return false;
    if (before == after) return true;
  }
  wrong = "it changes faster than it can be read";
  return false;
}

struct Page {
  PageHeader header{};
  StandingPage standing{};
  core::EnginePage engine{};
};

Result<PageView> view_of(const Page& page) {
  PageView view;
  Fit fit;
  const auto clock = static_cast<std::uint64_t>(fit.time(page.standing.clock_ns));
  take_header(page.header, view, fit);
  take_standing(page.standing, view, fit);
  take_engine(page.engine, page.standing.unix_ns - clock, view, fit);
  if (!fit.wrong().empty()) return fail(Errc::kCorrupt, fit.wrong());
  return view;
}

Error at_path(const Error& error, const std::string& path) {
  return {error.code, path + ": " + error.text};
}

Result<Fd> open_page(const std::string& path, uid_t owner) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == ENOENT) return fail(Errc::kNotFound, "it does not exist");
  if (!fd) {
    const bool forbidden = errno == EACCES || errno == EPERM || errno == ELOOP;
    return fail(forbidden ? Errc::kAuth : Errc::kSystem,
                std::string("cannot open it: ") + std::strerror(errno));
  }
  struct stat facts {};
  if (::fstat(fd.number(), &facts) != 0) return fail(Errc::kSystem, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return fail(Errc::kAuth, "it is not an ordinary file");
  if (facts.st_uid != owner)
    return fail(Errc::kAuth, "it belongs to user " + std::to_string(facts.st_uid) + ", not to " +
                                 std::to_string(owner));
  if ((facts.st_mode & 022) != 0) return fail(Errc::kAuth, "other users may write to it");
  return fd;
}

}  // namespace

Result<PageView> read_page(const PageBytes& bytes, ProcessId process) {
  const auto page = std::make_unique<Page>();
  if (!copy(bytes, offsetof(PageFile, header), page->header))
    return fail(Errc::kCorrupt, "it is shorter than a page");
  if (page->header.magic != kPageMagic) return fail(Errc::kCorrupt, "it is no member's page");
  if (page->header.version != kPageVersion || page->header.bytes != sizeof(PageFile))
    return fail(Errc::kUnsupported, "another version of livebtl wrote it; use that one's btlctl");
  if (page->header.process != static_cast<std::uint64_t>(process))
    return fail(Errc::kCorrupt, "it is another process's page");
  const char* wrong = nullptr;
  if (!copy_latched(bytes, offsetof(PageFile, standing), page->standing, wrong) ||
      !copy_latched(bytes, offsetof(PageFile, engine), page->engine, wrong))
    return fail(Errc::kCorrupt, wrong);
  return view_of(*page);
}

Result<PageView> read_page(const std::string& directory, uid_t owner, ProcessId process) {
  const std::string path = page_path(directory, process);
  const auto fd = open_page(path, owner);
  if (!fd) return tl::unexpected(at_path(fd.error(), path));
  const auto bytes = [&fd](std::size_t offset, MutableBytes into) {
    const ssize_t count =
        ::pread(fd->number(), into.data(), into.size(), static_cast<off_t>(offset));
    return count == static_cast<ssize_t>(into.size());
  };
  auto view = read_page(bytes, process);
  if (!view) return tl::unexpected(at_path(view.error(), path));
  return view;
}

}  // namespace livebtl::control
