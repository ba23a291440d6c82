// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/socket_agent.cc -- see socket_agent.h.
#include "hypervisor/qmp/socket_agent.h"

#include "base/secret.h"

namespace livebtl::hypervisor {
namespace {

Error agent_error(Error error) {
  if (error.code == Errc::kTimeout)
    error.text += " (the guest agent: are the guest and its qemu-guest-agent running?)";
  return error;
}

/// Skips the answers that an earlier client asked for but did not wait for: lines, whole or cut off
/// at the front, each with its end.
Status synchronise(JsonLineSocket& socket, const Deadline& deadline) {
  const std::uint64_t mark = random_u64() & 0x7fff'ffff;
  const Json question = {{"execute", "guest-sync-delimited"}, {"arguments", {{"id", mark}}}};
  if (auto sent = socket.send(question, "\xff", deadline); !sent) return sent;
  for (;;) {
    const auto heard = socket.receive(deadline);
    if (!heard && heard.error().code != Errc::kCorrupt) return tl::unexpected(heard.error());
    if (heard && heard->contains("return") && (*heard)["return"] == mark) return {};
  }
}

}  // namespace

SocketAgent::SocketAgent(const std::string& path)
    : connect_(
          [path](const Deadline& deadline) { return JsonLineSocket::connect(path, deadline); }) {}

Result<Json> SocketAgent::request(const std::string& command, const Json& arguments,
                                  const Deadline& deadline) {
  auto socket = connect_(deadline);
  if (!socket) return tl::unexpected(agent_error(socket.error()));
  if (const auto ready = synchronise(*socket, deadline); !ready)
    return tl::unexpected(agent_error(ready.error()));
  Json message = {{"execute", command}};
  if (!arguments.empty()) message["arguments"] = arguments;
  if (const auto sent = socket->send(message, "", deadline); !sent)
    return tl::unexpected(agent_error(sent.error()));
  const auto heard = socket->receive(deadline);
  if (!heard) return tl::unexpected(agent_error(heard.error()));
  if (const auto value = heard->find("return"); value != heard->end()) return *value;
  const Json* error = member(*heard, "error", Json::value_t::object);
  return fail(Errc::kRefused,
              "the guest agent refuses " + command + ": " +
                  one_line(error == nullptr ? heard->dump() : text_member(*error, "desc")));
}

}  // namespace livebtl::hypervisor
