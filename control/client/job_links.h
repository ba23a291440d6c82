// SPDX-License-Identifier: BSD-3-Clause
// control/client/job_links.h -- btlctl's connections to the members of one job.
//
// Members of this node are spoken to directly, each over its own socket, so that a stopped one
// blocks only itself; those of other nodes by relays. From outside all goes by one relay.
// Threads: one. No exceptions come out.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/secret.h"
#include "control/client/discovery.h"
#include "control/wire/messages.h"

namespace livebtl::control {

/// Where a relay is, for those outside.
struct RelayPlace {
  std::string name;       // as it was given, for people
  std::string endpoints;  // route.h
  Secret secret;          // absent: the job has none
};

class JobLinks {
 public:
  /// Errors: kSystem.
  static Result<JobLinks> open(const JobPlace& job);
  /// From outside the job's nodes: everything goes by this relay, which is waited for. job: "" for
  /// whichever it is of. Errors: kAuth (it does not take the secret), kUnreachable (nobody
  /// answers), kNotFound (it is of another job), kCancelled, kSystem.
  static Result<JobLinks> connect(const RelayPlace& relay, const std::string& job,
                                  const Deadline& deadline);
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
  /// The next message; nullopt: timeout_ns has passed, or a signal came.
  std::optional<Heard> receive(TimeNs timeout_ns);

  const std::string& job() const noexcept;

 private:
  struct Impl;
  explicit JobLinks(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace livebtl::control
