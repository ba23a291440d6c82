// SPDX-License-Identifier: BSD-3-Clause
// core/lane/region_table.cc -- a slot table for the keys that we make, a hash map for those that
// the user wished. Pure; runs under the engine's lock.
#include "core/lane/region_table.h"

namespace livebtl::core {
namespace {

/// What check() returns for a region of 0 bytes at a null base: not null, never dereferenced.
std::byte g_nothing;

bool has_rights(Access has, Access wanted) noexcept {
  const auto has_bits = static_cast<unsigned>(has);
  const auto wanted_bits = static_cast<unsigned>(wanted);
  return (has_bits & wanted_bits) == wanted_bits;
}

}  // namespace

std::size_t RegionTable::WishedHash::operator()(const WishedKey& wished) const noexcept {
  const std::uint64_t mixed =
      (wished.key ^ (std::uint64_t{wished.space} << 40)) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

const RegionTable::Region* RegionTable::find_made(std::uint32_t space,
                                                  std::uint64_t key) const noexcept {
  const Region* const region = made_.find(key);
  return region != nullptr && region->space == space ? region : nullptr;
}

const RegionTable::Region* RegionTable::find(std::uint32_t space,
                                             std::uint64_t key) const noexcept {
  if (const Region* const region = find_made(space, key)) return region;
  if (wished_.empty()) return nullptr;
  const auto wished = wished_.find({space, key});
  return wished != wished_.end() ? &wished->second : nullptr;
}

Status RegionTable::check_sort(std::uint32_t space, bool wished) {
  const auto sort = wishing_.try_emplace(space, wished).first;
  if (sort->second == wished) return {};
  return fail(Errc::kInvalid,
              wished
                  ? "a key is requested where livebtl has made one: request keys for all regions "
                    "of a space, or open a port of another space for these"
                  : "no key is requested where one was: request keys for all regions of a "
                    "space, or open a port of another space for these");
}

Result<std::uint64_t> RegionTable::add(std::uint32_t space, const RegionRequest& request) {
  const auto base = reinterpret_cast<std::uintptr_t>(request.base);
  if (request.bytes > UINTPTR_MAX - base)
    return fail(Errc::kInvalid,
                "the region's base and length run past the end of memory; pass the length in "
                "bytes");
  const Region region{static_cast<std::byte*>(request.base),
                      request.virtual_addressing ? std::uint64_t{base} : 0, request.bytes, space,
                      request.access};
  if (auto checked = check_sort(space, request.key.has_value()); !checked)
    return tl::unexpected(checked.error());
  if (request.key.has_value()) {
    if (!wished_.try_emplace({space, *request.key}, region).second) {
      return fail(Errc::kInvalid,
                  "the requested region key " + std::to_string(*request.key) +
                      " is in use; request another, or deregister its region first");
    }
    ++count_;
    return *request.key;
  }
  std::uint64_t key = 0;
  made_.acquire(key) = region;
  ++count_;
  return key;
}

Status RegionTable::remove(std::uint32_t space, std::uint64_t key) {
  if (find_made(space, key) != nullptr) {
    made_.release(key);
  } else if (wished_.erase({space, key}) == 0) {
    return fail(Errc::kBadKey, "no region has the key " + std::to_string(key) +
                                   "; it was never registered here, or is deregistered already");
  }
  --count_;
  return {};
}

std::byte* RegionTable::check(std::uint32_t space, std::uint64_t key, std::uint64_t address,
                              std::uint64_t length, Access wanted) const noexcept {
  const Region* const region = find(space, key);
  if (region == nullptr || !has_rights(region->access, wanted)) return nullptr;
  if (address < region->first) return nullptr;
  const std::uint64_t offset = address - region->first;
  if (offset > region->bytes || length > region->bytes - offset) return nullptr;
  std::byte* const at = region->base + offset;
  return at != nullptr || length != 0 ? at : &g_nothing;
}

}  // namespace livebtl::core
