// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/guest_agent.cc -- see guest_agent.h.
#include "hypervisor/qmp/guest_agent.h"

#include <sodium.h>

#include <algorithm>

#include "base/secret.h"
#include "base/text.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kFirstPause = 10 * kMillisecond;
constexpr TimeNs kLongestPause = 200 * kMillisecond;

Error agent_error(Error error) {
  if (error.code == Errc::kTimeout)
    error.text += " (the guest agent: are the guest and its qemu-guest-agent running?)";
  return error;
}

/// Skips the answers that an earlier client has asked for and not waited for: lines, whole or cut
/// off at the front, each with its end.
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

std::string decoded_member(const Json& answer, const char* name) {
  return base64_decoded(text_member(answer, name)).value_or("");
}

/// nullopt: it still runs.
Result<std::optional<Finished>> read_status(const Json& status) {
  const Json* exited = member(status, "exited", Json::value_t::boolean);
  if (exited == nullptr) return fail(Errc::kCorrupt, "the guest agent does not say how it ended");
  if (!exited->get<bool>()) return std::optional<Finished>{};
  Finished finished{-1, decoded_member(status, "out-data"), decoded_member(status, "err-data")};
  const auto code = number_member(status, "exitcode");
  const auto signal = number_member(status, "signal");
  if (code) finished.code = static_cast<int>(*code & 0xff);
  if (signal) finished.code = 128 + static_cast<int>(*signal & 0x7f);
  if (finished.code < 0) return fail(Errc::kCorrupt, "the guest agent gives no exit code");
  return std::optional<Finished>(std::move(finished));
}

}  // namespace

std::optional<std::string> base64_decoded(std::string_view text) {
  std::string decoded(text.size(), '\0');
  std::size_t size = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(decoded.data()), decoded.size(),
                        text.data(), text.size(), nullptr, &size, nullptr,
                        sodium_base64_VARIANT_ORIGINAL) != 0)
    return std::nullopt;
  decoded.resize(size);
  return decoded;
}

GuestAgent::GuestAgent(const std::string& path)
    : connect_(
          [path](const Deadline& deadline) { return JsonLineSocket::connect(path, deadline); }) {}

Result<Json> GuestAgent::request(const std::string& command, const Json& arguments,
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

Result<std::string> GuestAgent::host_name(const Deadline& deadline) {
  const auto answer = request("guest-get-host-name", Json::object(), deadline);
  if (!answer) return tl::unexpected(answer.error());
  std::string name = text_member(*answer, "host-name");
  if (name.size() > 255 || !is_plain_name(name))
    return fail(Errc::kCorrupt, "the guest calls itself '" + one_line(name) +
                                    "', which is not a host name; set one in the guest");
  return name;
}

Result<Finished> GuestAgent::run(const std::vector<std::string>& words, const Deadline& deadline) {
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  const auto begun = request(
      "guest-exec", {{"path", words.front()}, {"arg", rest}, {"capture-output", true}}, deadline);
  if (!begun) return tl::unexpected(begun.error());
  const auto pid = number_member(*begun, "pid");
  if (!pid) return fail(Errc::kCorrupt, "the guest agent started no process");
  for (TimeNs wait = kFirstPause;; wait = std::min(2 * wait, kLongestPause)) {
    const auto status = request("guest-exec-status", {{"pid", *pid}}, deadline);
    if (!status) return tl::unexpected(status.error());
    auto finished = read_status(*status);
    if (!finished) return tl::unexpected(finished.error());
    if (*finished) return std::move(**finished);
    pause(wait, deadline);
  }
}

}  // namespace livebtl::hypervisor
