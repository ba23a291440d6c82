// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/guest_agent.cc -- see guest_agent.h.
#include "hypervisor/vm/guest_agent.h"

#include <sodium.h>

#include <algorithm>

#include "base/text.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kFirstPause = 10 * kMillisecond;
constexpr TimeNs kLongestPause = 200 * kMillisecond;

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
