// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_segment.cc -- see sm_segment.h.
#include "transports/sm/sm_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace livebtl::sm {
namespace {

constexpr std::size_t kSlotsBytes = core::kBoxSlots * sizeof(core::BoxSlot);  // two pages
constexpr std::size_t kBoxBytes = kSlotsBytes + core::kBoxAreaBytes;
constexpr std::size_t kWordsBytes = 4096;  // the words of both rings and of what is exposed: a page
static_assert(2 * (sizeof(RingWords) + sizeof(ZeroCopyWords)) <= kWordsBytes);
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// An odd number of pages, a size that memory of huge pages never has: there, a page that is punched
// out may not come back.
constexpr std::size_t segment_bytes(std::size_t ring_bytes) noexcept {
  return kWordsBytes + 2 * (ring_bytes + std::size_t{kExposureBytesMax} + kBoxBytes);
}

tl::unexpected<Error> system_failure(const char* what) {
  const int error = errno;
  const Errc code =
      error == ENOMEM || error == EMFILE || error == ENFILE ? Errc::kNoMemory : Errc::kSystem;
  return fail(code, std::string(what) + " for shared memory: " + std::strerror(error) +
                        "; raise the limit, or leave sm out of LIVEBTL_TRANSPORTS");
}

}  // namespace

void Unmap::operator()(std::byte* base) const noexcept { ::munmap(base, bytes); }

Result<Segment::Made> Segment::make(std::size_t ring_bytes) {
  Fd memory(::memfd_create("livebtl-sm", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return system_failure("memfd_create");
  if (::ftruncate(memory.number(), static_cast<off_t>(segment_bytes(ring_bytes))) != 0)
    return system_failure("ftruncate");
  if (::fcntl(memory.number(), F_ADD_SEALS, kSeals) != 0) return system_failure("F_ADD_SEALS");
  auto segment = map(memory, ring_bytes);
  if (!segment) return tl::unexpected<Error>(segment.error());
  return Made{std::move(*segment), std::move(memory)};
}

Result<Segment> Segment::adopt(const Fd& memory, std::size_t ring_bytes) {
  struct stat status {};
  if (::fstat(memory.number(), &status) != 0) return system_failure("fstat");
  const int seals = ::fcntl(memory.number(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals)
    return fail(Errc::kInvalid, "the peer's memory is not sealed against resizing");
  if (!S_ISREG(status.st_mode) || status.st_size != static_cast<off_t>(segment_bytes(ring_bytes)))
    return fail(Errc::kInvalid, "the peer's memory does not have the size that it should");
  return map(memory, ring_bytes);
}

Result<Segment> Segment::map(const Fd& memory, std::size_t ring_bytes) {
  const std::size_t bytes = segment_bytes(ring_bytes);
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.number(), 0);
  if (base == MAP_FAILED) return system_failure("mmap");
  Segment segment;
  segment.base_ = {static_cast<std::byte*>(base), Unmap{bytes}};
  segment.ring_bytes_ = ring_bytes;
  return segment;
}

RingWriter Segment::writer(std::size_t ring) noexcept {
  return {words(ring), data(ring), ring_bytes_};
}
RingReader Segment::reader(std::size_t ring) noexcept {
  return {words(ring), data(ring), ring_bytes_};
}

std::byte* Segment::data(std::size_t ring) noexcept {
  return base_.get() + kWordsBytes + ring * ring_bytes_;
}
core::BoxMemory Segment::box(std::size_t ring) noexcept {
  std::byte* const slots = spare(2) + ring * kBoxBytes;
  return {reinterpret_cast<core::BoxSlot*>(slots), slots + kSlotsBytes, &words(ring).taken,
          &words(ring).sleeping};
}
std::byte* Segment::spare(std::size_t ring) noexcept { return data(2) + ring * kExposureBytesMax; }
RingWords& Segment::words(std::size_t ring) noexcept {
  return *reinterpret_cast<RingWords*>(base_.get() + ring * sizeof(RingWords));
}
ZeroCopyWords& Segment::exposures(std::size_t ring) noexcept {
  return *reinterpret_cast<ZeroCopyWords*>(base_.get() + 2 * sizeof(RingWords) +
                                           ring * sizeof(ZeroCopyWords));
}

}  // namespace livebtl::sm
