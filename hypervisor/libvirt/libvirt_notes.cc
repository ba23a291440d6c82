// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/libvirt_notes.cc -- the part of libvirt_vm.h on notes in a domain's metadata,
// and the agent in its guest. Run by btlctl's one thread.
#include <algorithm>

#include "hypervisor/libvirt/domain_xml.h"
#include "hypervisor/libvirt/libvirt_vm.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kNotePrefix = "livebtl";
constexpr TimeNs kAgentAnswerMax = 60 * kSecond;

}  // namespace

Status LibvirtVm::keep_note(const std::string& name, const std::string& text,
                            const Deadline& deadline) {
  return on_domain(
      [name, text](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
        if (calls.set_metadata(domain, VIR_DOMAIN_METADATA_ELEMENT, note_xml(text).c_str(),
                               kNotePrefix, note_namespace(name).c_str(),
                               VIR_DOMAIN_AFFECT_LIVE) == 0)
          return {};
        return tl::unexpected(libvirt_error(calls, "note " + name + " in the domain's metadata"));
      },
      "note " + name, deadline);
}

/// A domain that is gone, or shut off, has no notes.
Result<std::string> LibvirtVm::read_note(const std::string& name, const Deadline& deadline) {
  const auto text = std::make_shared<std::string>();
  const Status asked = on_domain(
      [name, text](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
        int state = VIR_DOMAIN_NOSTATE, reason = 0;
        if (calls.get_state(domain, &state, &reason, 0) == 0 && state == VIR_DOMAIN_SHUTOFF)
          return {};
        char* const said = calls.get_metadata(domain, VIR_DOMAIN_METADATA_ELEMENT,
                                              note_namespace(name).c_str(), VIR_DOMAIN_AFFECT_LIVE);
        if (said == nullptr)
          return tl::unexpected(libvirt_error(calls, "read " + name + " in its metadata"));
        *text = read_note_xml(taken_text(said));
        return {};
      },
      "read " + name, deadline);
  if (asked || (asked.error().code == Errc::kNotFound && connection_)) return *text;
  return tl::unexpected(asked.error());
}

Status LibvirtVm::drop_note(const std::string& name, const Deadline& deadline) {
  const auto kept = read_note(name, deadline);
  if (!kept) return tl::unexpected(kept.error());
  if (kept->empty()) return {};
  return on_domain(
      [name](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
        if (calls.set_metadata(domain, VIR_DOMAIN_METADATA_ELEMENT, nullptr, kNotePrefix,
                               note_namespace(name).c_str(), VIR_DOMAIN_AFFECT_LIVE) == 0)
          return {};
        return tl::unexpected(libvirt_error(calls, "delete " + name + " in its metadata"));
      },
      "delete " + name, deadline);
}

Status LibvirtVm::mark_loaded(const Deadline& deadline) {
  if (auto kept = keep_note(kLoadedNote, "yes", deadline); !kept) return kept;
  return drop_note(kHoldNote, deadline);
}

Result<Json> LibvirtVm::Agent::request(const std::string& command, const Json& arguments,
                                       const Deadline& deadline) {
  Json message = {{"execute", command}};
  if (!arguments.empty()) message["arguments"] = arguments;
  const auto answer = std::make_shared<std::string>();
  const TimeNs left = std::max<TimeNs>(deadline.at - monotonic_now(), 0);
  const int seconds = static_cast<int>(std::min(left, kAgentAnswerMax) / kSecond) + 1;
  const Status asked = vm_.on_domain(
      [answer, seconds, text = message.dump(-1, ' ', true, Json::error_handler_t::replace),
       command](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
        char* const said = calls.agent_command(domain, text.c_str(), seconds, 0);
        if (said == nullptr)
          return tl::unexpected(libvirt_error(calls, "the guest agent, " + command));
        *answer = taken_text(said);
        return {};
      },
      "the guest agent, " + command, deadline);
  if (!asked) return tl::unexpected(asked.error());
  const Json document = parse_bounded(*answer);
  if (document.is_object() && document.contains("return")) return document["return"];
  return fail(Errc::kCorrupt, "the guest agent's answer is not understood: " + one_line(*answer));
}

}  // namespace livebtl::hypervisor
