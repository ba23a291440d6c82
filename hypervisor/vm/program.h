// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/program.h -- runs a program and keeps what it prints. Blocks its caller; any thread; owns nothing
// afterwards but the number of a program that could not be ended.
#pragma once

#include "base/deadline.h"
#include "hypervisor/vm/child.h"
#include "hypervisor/vm/guest_agent.h"

namespace livebtl::hypervisor {

/// By PATH, without a shell, with no input, and out of reach of the terminal's keys. At the deadline it is told to end
/// (SIGTERM), and after `grace` killed; one that runs as another user, and cannot be, is left to itself. With the deadline
/// kNever (child.h), and no stop, it is never told to. Of its output so many bytes are kept, of its errors 1 MiB.
/// Errors: kNotFound (it cannot be started), kTimeout, kSystem.
Result<Finished> run_program(const std::vector<std::string>& words, const Deadline& deadline,
                             TimeNs grace, std::size_t output_max = kOutputBytesMax);

}  // namespace livebtl::hypervisor
