// SPDX-License-Identifier: BSD-3-Clause
// kubevirt/node_hook_service.cc -- see node_hook_service.h.
#include "kubevirt/node_hook_service.h"

#include <algorithm>

#include "base/log.h"

namespace livebtl::kubevirt {
namespace {

constexpr TimeNs kTimeoutUnlessSaid = 25 * kSecond;
constexpr TimeNs kAnswerMargin = 500 * kMillisecond;  // so that the answer arrives in time

/// When the time-out that virt-handler set ends.
TimeNs end_of(const grpc::ServerContext& context) {
  const auto left = context.deadline() - std::chrono::system_clock::now();
  const TimeNs most =
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::min<std::chrono::system_clock::duration>(left, std::chrono::hours(1)))
          .count();
  const bool said = context.deadline() != std::chrono::system_clock::time_point::max();
  const TimeNs usable = (said ? most : kTimeoutUnlessSaid + kAnswerMargin) - kAnswerMargin;
  return monotonic_now() + std::max<TimeNs>(0, usable);
}

grpc::StatusCode status_of(Errc code) {
  if (code == Errc::kInvalid) return grpc::StatusCode::INVALID_ARGUMENT;
  if (code == Errc::kTimeout) return grpc::StatusCode::DEADLINE_EXCEEDED;
  if (code == Errc::kAuth) return grpc::StatusCode::PERMISSION_DENIED;
  return code == Errc::kRefused ? grpc::StatusCode::FAILED_PRECONDITION
                                : grpc::StatusCode::UNAVAILABLE;
}

}  // namespace

grpc::Status NodeHookService::ExecuteNodeHook(grpc::ServerContext* context,
                                              const interface::ExecuteNodeHookRequest* request,
                                              interface::ExecuteNodeHookResponse*) {
  const bool before = request->hookpoint() == "PreMigrationSource";
  if (!before && request->hookpoint() != "PostMigrationTarget") return grpc::Status::OK;
  const auto domain = domain_of(request->vmi());
  if (!domain) return {grpc::StatusCode::INVALID_ARGUMENT, domain.error().text};
  const TimeNs until = end_of(*context);
  const auto done = before ? orders_.prepare(*domain, until) : orders_.give_back(*domain, until);
  const std::string& text = done ? *done : done.error().text;
  log(done ? LogLevel::kInfo : LogLevel::kWarn, "hook", "%s %s", request->hookpoint().c_str(),
      text.c_str());
  return done ? grpc::Status::OK : grpc::Status(status_of(done.error().code), text);
}

}  // namespace livebtl::kubevirt
