// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/program.h -- runs a program and keeps what it prints. Blocks its caller; any
// thread; owns nothing afterwards but the pid of a program that could not be killed.
#pragma once

#include "base/deadline.h"
#include "hypervisor/vm/child.h"
#include "hypervisor/vm/guest_agent.h"

namespace livebtl::hypervisor {

/// Runs a program found in PATH, without a shell or input, out of reach of the terminal's keys. At
/// the deadline it gets SIGTERM, and after `grace` SIGKILL; one that runs as another user and
/// cannot be killed is left running. With the deadline kNever (child.h) and no stop it gets
/// neither. Keeps `output_max` bytes of its output, and 1 MiB of its errors.
/// Errors: kNotFound (it cannot be started), kTimeout, kSystem.
Result<Finished> run_program(const std::vector<std::string>& words, const Deadline& deadline,
                             TimeNs grace, std::size_t output_max = kOutputBytesMax);

}  // namespace livebtl::hypervisor
