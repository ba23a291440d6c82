// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/plan/answer.cc -- see answer.h.
#include "hypervisor/plan/answer.h"

namespace livebtl::hypervisor {
namespace {

Outcome outcome_of(Errc error) {
  if (error == Errc::kCancelled) return Outcome::kInterrupted;
  return error == Errc::kTimeout ? Outcome::kTimeout : Outcome::kFailed;
}

}  // namespace

int code_of(Errc error) noexcept {
  if (error == Errc::kCancelled) return kCodeInterrupted;
  if (error == Errc::kAuth) return kCodeNotPermitted;
  if (error == Errc::kTimeout) return kCodeTakenBack;
  return error == Errc::kInvalid ? kCodeUsage : kCodeNotFound;
}

Answer answer_of(const Error& error) {
  return {outcome_of(error.code), code_of(error.code), error.text};
}

Answer answer_of(const Status& status) { return status ? Answer{} : answer_of(status.error()); }

Answer late_answer_of(const Error& error) {
  const int code = error.code == Errc::kCancelled ? kCodeInterrupted : kCodeTakenBack;
  return {outcome_of(error.code), code, error.text};
}

}  // namespace livebtl::hypervisor
