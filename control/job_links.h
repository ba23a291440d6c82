// SPDX-License-Identifier: BSD-3-Clause
// control/job_links.h -- btlctl's connections to the members of one job.
//
// Members of this node are spoken to directly, each over its own socket, so that a stopped one
// blocks only itself. Threads: one. No exceptions come out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/discovery.h"
#include "control/messages.h"

namespace livebtl::control {

class JobLinks {
 public:
  /// Errors: kSystem.
  static Result<JobLinks> open(const JobPlace& job);
  JobLinks(JobLinks&&) noexcept;
  JobLinks& operator=(JobLinks&&) noexcept;
  ~JobLinks();

  struct Found {
    std::vector<MemberEntry> live;
    std::vector<MemberEntry> gone;  // each with proof
  };
  /// Looks for members anew; blocks for at most a second, for relays that do not answer.
  const Found& scan();
  const Found& found() const noexcept;

  /// false: not sent, and it will not arrive.
  bool send(MemberId to, const Message& message);

  struct Heard {
    MemberId from;
    Message message;
  };
  /// The next message; nullopt: timeout_ns passed, or a signal came.
  std::optional<Heard> receive(TimeNs timeout_ns);

  const std::string& job() const noexcept;

 private:
  struct Impl;
  explicit JobLinks(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace livebtl::control
