// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/connection.cc -- see connection.h.
#include "hypervisor/libvirt/connection.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {
namespace {

constexpr auto kStopSlice = std::chrono::milliseconds(50);
constexpr int kLoopWakesMs = 200;
// A daemon that has not answered for 30 s is considered gone, and calls that wait for it end.
constexpr int kKeepAliveSeconds = 5;
constexpr unsigned kKeepAliveMissed = 5;

void say_nothing(void*, virErrorPtr) {}  // else libvirt writes each error to standard error
void wake(int, void*) {}

bool is_one_of(int code, std::initializer_list<int> codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

Errc errc_of(const virError& error) {
  const int code = error.code;
  if (is_one_of(code, {VIR_ERR_NO_DOMAIN, VIR_ERR_DEVICE_MISSING, VIR_ERR_NO_DOMAIN_METADATA}))
    return Errc::kNotFound;
  if (is_one_of(code, {VIR_ERR_AUTH_FAILED, VIR_ERR_AUTH_CANCELLED, VIR_ERR_AUTH_UNAVAILABLE,
                       VIR_ERR_ACCESS_DENIED, VIR_ERR_OPERATION_DENIED}))
    return Errc::kAuth;
  if (is_one_of(code,
                {VIR_ERR_OPERATION_TIMEOUT, VIR_ERR_AGENT_UNRESPONSIVE, VIR_ERR_AGENT_UNSYNCED}))
    return Errc::kTimeout;
  const bool of_the_wire =
      is_one_of(error.domain, {VIR_FROM_RPC, VIR_FROM_REMOTE, VIR_FROM_STREAMS});
  if (is_one_of(code, {VIR_ERR_NO_CONNECT, VIR_ERR_RPC, VIR_ERR_INVALID_CONN}) ||
      (of_the_wire && is_one_of(code, {VIR_ERR_SYSTEM_ERROR, VIR_ERR_INTERNAL_ERROR})))
    return Errc::kDown;
  return Errc::kRefused;
}

const char* advice_for(Errc code) {
  switch (code) {
    case Errc::kAuth:
      return "; run it as a user who may command this libvirt (group libvirt, or root)";
    case Errc::kDown:
      return "; is libvirt's daemon running there?";
    case Errc::kTimeout:
      return "; are the guest and its qemu-guest-agent running?";
    default:
      return "";
  }
}

}  // namespace

Error libvirt_error(const LibvirtCalls& calls, const std::string& what) {
  const virError* const said = calls.last_error();
  if (said == nullptr || said->code == VIR_ERR_OK)
    return {Errc::kRefused, "libvirt does not do it, and does not say why: " + what};
  const Errc code = errc_of(*said);
  const std::string text = said->message == nullptr ? "" : one_line(said->message);
  return {code, "libvirt: " + what + ": " + text + advice_for(code)};
}

std::string taken_text(char* text) {
  std::string copy = text == nullptr ? "" : text;
  std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): libvirt's own rule
  return copy;
}

PendingCall::PendingCall(Call call) : state_(std::make_shared<State>()) {
  std::thread([state = state_, call = std::move(call)]() mutable {
    Status status = call();
    call = nullptr;  // frees what it holds before it counts as ended
    const std::lock_guard lock(state->mutex);
    state->status.emplace(std::move(status));
    state->ends.notify_all();
  }).detach();
}

bool PendingCall::ended() const {
  const std::lock_guard lock(state_->mutex);
  return state_->status.has_value();
}

Status PendingCall::wait(const Deadline& deadline, const std::string& what) const {
  std::unique_lock lock(state_->mutex);
  while (!state_->status) {
    if (deadline.stopped()) return fail(Errc::kCancelled, "interrupted");
    if (monotonic_now() >= deadline.at)
      return fail(Errc::kTimeout, "libvirt: " + what + ": no answer in time");
    state_->ends.wait_for(lock, kStopSlice);
  }
  return *state_->status;
}

/// libvirt writes to its sockets without MSG_NOSIGNAL: a daemon that crashes would end this
/// process.
Libvirt::Libvirt(const LibvirtCalls& calls) : calls_(calls) {
  std::signal(SIGPIPE, SIG_IGN);
  calls_.initialize();
  calls_.set_error_function(nullptr, say_nothing);
  calls_.event_register();
  calls_.event_add_timeout(kLoopWakesMs, wake, nullptr, nullptr);
  loop_ = std::thread([this] {
    while (!ending_.load()) calls_.event_run();
  });
}

Libvirt::~Libvirt() {
  ending_.store(true);
  loop_.join();
}

Result<std::shared_ptr<Connection>> Connection::open(const std::shared_ptr<const Libvirt>& libvirt,
                                                     const std::string& uri,
                                                     const Deadline& deadline) {
  const auto opened = std::make_shared<std::shared_ptr<Connection>>();
  const std::string what = uri.empty() ? "connect" : "connect to " + uri;
  const PendingCall call([opened, libvirt, uri, what]() -> Status {
    const LibvirtCalls& calls = libvirt->calls();
    virConnectPtr connection = calls.open(uri.empty() ? nullptr : uri.c_str());
    if (connection == nullptr) {
      Error error = libvirt_error(calls, what);
      if (error.code == Errc::kDown) error.code = Errc::kNotFound;
      return tl::unexpected(std::move(error));
    }
    (void)calls.set_keep_alive(connection, kKeepAliveSeconds,
                               kKeepAliveMissed);  // fails for local drivers
    *opened = std::make_shared<Connection>(libvirt, connection);
    return {};
  });
  if (auto done = call.wait(deadline, what); !done) return tl::unexpected(done.error());
  return *opened;
}

}  // namespace livebtl::hypervisor
