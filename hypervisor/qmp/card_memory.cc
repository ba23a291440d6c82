// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/card_memory.cc -- the part of card.h on the memory object of an ivshmem card,
// which must be gone before its machine is migrated or saved. Used by btlctl's one thread.
#include <sstream>

#include "hypervisor/qmp/card.h"
#include "hypervisor/qmp/note.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kUntilLookedAgain = 20 * kMillisecond;
constexpr TimeNs kFreedMax = 10 * kSecond;

/// QEMU's memory table has a line for each block. It begins with the block's name: the object's id,
/// possibly after the path of the device that maps it.
bool has_block(const std::string& table, const std::string& memory) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::string name;
    std::istringstream(line) >> name;
    if (name == memory || name.ends_with("/" + memory)) return true;
  }
  return false;
}

/// A deleted object lives as long as QEMU's memory map that contains it, some 50 ms, and a
/// migration that begins in that time sends it to a destination that does not know it. A QEMU that
/// does not list its blocks (before 6.2) is believed.
Status wait_until_freed(Qmp& qmp, const std::string& memory, const Deadline& deadline) {
  for (;;) {
    const auto blocks = qmp.execute("x-query-ramblock", Json::object(), deadline);
    if (!blocks && said_no(blocks.error())) return {};
    if (!blocks) return tl::unexpected(blocks.error());
    if (!has_block(text_member(*blocks, "human-readable-text"), memory)) return {};
    pause(kUntilLookedAgain, deadline);
    if (monotonic_now() >= deadline.at)
      return fail(Errc::kTimeout,
                  "QEMU has deleted the memory object " + memory +
                      " and does not free it, as if another device used it: look in its monitor at "
                      "info ramblock, and at the memdev of each ivshmem device (qom-get "
                      "/machine/peripheral/ID memdev); name that device as a card too, or unplug "
                      "it, and call again");
  }
}

}  // namespace

std::string shared_memory_of(const Card& card) {
  return text_member(card.arguments, "driver").starts_with("ivshmem")
             ? text_member(card.arguments, "memdev")
             : "";
}

Status drop_shared_memory(Qmp& qmp, const Card& card, const Deadline& deadline) {
  const std::string memory = shared_memory_of(card);
  if (memory.empty()) return {};
  if (auto gone = delete_object(qmp, memory, deadline); !gone) return gone;
  return wait_until_freed(qmp, memory, deadline.at_most(kFreedMax));
}

}  // namespace livebtl::hypervisor
