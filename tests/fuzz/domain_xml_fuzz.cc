// SPDX-License-Identifier: BSD-3-Clause
// The XML that libvirt gives of a domain, and JSON as a guest or QEMU answers: whatever is accepted
// can be used as the steps of a migration or a snapshot use it.
#include "hypervisor/libvirt/domain_xml.h"
#include "hypervisor/vm/guest_job.h"
#include "hypervisor/vm/untrusted.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;
using namespace livebtl::hypervisor;

bool is_one_line(std::string_view text) {
  return text.find('\n') == std::string_view::npos && text.find('\x1b') == std::string_view::npos;
}

bool device(const std::string& xml) {
  const auto found = find_device(xml, "hostdev0");
  if (!found) {
    fuzz::must_hold(!found.error().text.empty(), "a refusal says why");
    return false;
  }
  if (*found) {
    const Card card{"hostdev0", true, **found};
    fuzz::must_hold(has_device(xml, card).has_value(), "what was found can be asked for");
    static_cast<void>(device_xml(card));
  }
  const auto all = all_disks(xml);
  const auto writable = writable_disks(xml);
  fuzz::must_hold(!all || !writable || writable->size() <= all->size(),
                  "a disk that is written to is a disk");
  if (all) static_cast<void>(memory_snapshot_xml("/var/lib/set/memory", *all));
  return true;
}

void note(const std::string& xml) {
  const std::string text = read_note_xml(xml);
  if (text.empty()) return;
  fuzz::must_hold(read_note_xml(note_xml(text)) == text, "a note survives the round trip");
}

void guest_answer(const std::string& output) {
  for (const int code : {0, 3, 7}) {
    for (const auto order : {GuestOrder::kPrepare, GuestOrder::kReturn}) {
      const GuestAnswer answer = read_answer({code, output, ""}, order);
      fuzz::must_hold(is_one_line(answer.text), "what is shown is one line");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool known = device(text) || !parse_bounded(text).is_discarded();
  note(text);
  guest_answer(text);
  fuzz::Reached::note(known);
  return 0;
}
