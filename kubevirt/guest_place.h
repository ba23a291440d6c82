// SPDX-License-Identifier: BSD-3-Clause
// kubevirt/guest_place.h -- which guest a hook is about, and how its job is reached: one file per
// guest, as for the libvirt hook. Any thread; nothing is kept. All input is hostile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "livebtl/result.h"

namespace livebtl::kubevirt {

inline constexpr std::size_t kVmiBytesMax = std::size_t{4} << 20;

/// The name that KubeVirt gives the guest's libvirt domain, NAMESPACE_NAME. Errors: kInvalid: the document names no guest.
Result<std::string> domain_of(std::string_view vmi);

struct GuestPlace {
  std::string relay, secret_file;  // of the job, no link; or ...
  std::string agent;               // the socket of the guest's agent
  std::string node;                // what the job calls the guest; "": as the agent says
};

/// Reads GUESTS/DOMAIN: a relay's HOST:PORT and the path of the job's secret, or agent:PATH; then,
/// optionally, the job's name for the guest. nullopt: no such file, so the guest has no job.
/// Errors: kInvalid, kAuth, kSystem.
Result<std::optional<GuestPlace>> read_guest(const std::string& guests, const std::string& domain);

}  // namespace livebtl::kubevirt
