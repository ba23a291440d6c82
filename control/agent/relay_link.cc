// SPDX-License-Identifier: BSD-3-Clause
// control/agent/relay_link.cc -- see relay_link.h.
#include "control/agent/relay_link.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/text.h"
#include "control/agent/helper.h"
#include "control/place/job_secret.h"
#include "control/place/member_file.h"
#include "control/wire/relay_talk.h"
#include "control/wire/route.h"

namespace livebtl::control {
namespace {

constexpr TimeNs kRetryLeast = 5 * kMillisecond;
constexpr TimeNs kRetryMost = kSecond;
constexpr TimeNs kStartLeast = 5 * kSecond;
constexpr TimeNs kStartMost = 60 * kSecond;

std::uint16_t port_of(const std::string& relay) {
  const auto first = relay_endpoints(relay).front();
  return parse_number<std::uint16_t>(std::string_view(first).substr(first.rfind(':') + 1))
      .value_or(0);
}

std::vector<std::string> relay_arguments(const JobFacts& job, std::uint16_t port) {
  std::vector<std::string> words{"relay", job.directory, process_name(ProcessId{job.node}), job.id,
                                 std::to_string(port)};
  words.insert(words.end(), job.relay_on.begin(), job.relay_on.end());
  return words;
}

}  // namespace

void RelayLink::turn(TimeNs now) {
  if (link_) {
    link_->flush();
    hear();
    if (link_->closed()) hang_up(now);
  }
  if (!link_ && now >= retry_at_) connect(now);
}

void RelayLink::connect(TimeNs now) {
  auto link = LocalLink::connect(relay_file(job_.directory, job_.node, kRelaySocket));
  if (link) {
    only_here_.reset();
    link_.emplace(std::move(*link));
    only_here_.emplace(link_->fd());
    return greet();
  }
  if (link.error().code == Errc::kUnreachable) {
    start_if_ours(now);
  } else {
    cannot(link.error().text);
  }
  retry_pause_ = std::clamp(2 * retry_pause_, kRetryLeast, kRetryMost);
  retry_at_ = now + retry_pause_;
}

void RelayLink::greet() {
  const std::string body = process_name(self_) + "\n" + secret_text(job_.secret);
  link_->send({.peer = "", .back = "", .to = std::string(kHelloNote), .body = body});
}

void RelayLink::start_if_ours(TimeNs now) {
  if (now < start_again_at_ || !take_start_lock()) return;
  start_pause_ = std::clamp(2 * start_pause_, kStartLeast, kStartMost);
  start_again_at_ = now + start_pause_;
  retry_pause_ = 0;
  const auto started = start_helper(helper_program(job_.relay_path), relay_arguments(job_, port_));
  if (!started) cannot(started.error().text);
}

/// false: another member starts it, or we cannot.
bool RelayLink::take_start_lock() {
  if (start_lock_) return true;
  const std::string path = relay_file(job_.directory, job_.node, kRelayStartLock);
  start_lock_ = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!start_lock_) {
    cannot("cannot open " + path + ": " + std::strerror(errno));
    return false;
  }
  if (take_lock(start_lock_.number())) {
    lock_only_here_.emplace(start_lock_.number());
    return true;
  }
  start_lock_.reset();
  return false;
}

void RelayLink::hear() {
  while (auto envelope = link_->receive()) {
    if (envelope->to == kRelaysNote && valid_relay(envelope->body)) {
      relay_ = envelope->body;
      port_ = port_of(relay_);
      lock_only_here_.reset();
      start_lock_.reset();
      start_again_at_ = start_pause_ = retry_pause_ = 0;
      said_.clear();
    } else if (envelope->to == kFailedNote) {
      cannot(envelope->body);
    } else if (answers_.size() < kAnswersMax) {
      answers_.push_back(std::move(*envelope));
    }
  }
}

std::optional<Envelope> RelayLink::receive() {
  if (answers_.empty()) return std::nullopt;
  Envelope answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

/// A relay that was working is replaced at once; one that could not begin is retried later.
void RelayLink::hang_up(TimeNs now) {
  if (relay_.empty()) retry_pause_ = std::clamp(2 * retry_pause_, kRetryLeast, kRetryMost);
  retry_at_ = now + retry_pause_;
  relay_.clear();
  answers_.clear();
  only_here_.reset();
  link_.reset();
}

void RelayLink::cannot(const std::string& why) {
  if (why == said_) return;
  said_ = why;
  log(LogLevel::kWarn, "agent", "no relay for this node yet: %s; other nodes cannot reach it",
      why.c_str());
}

}  // namespace livebtl::control
