// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/migration.cc -- see migration.h.
#include "hypervisor/qmp/migration.h"

#include <algorithm>

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kBetweenLooks = kSecond;
constexpr TimeNs kUntilNext = 20 * kMillisecond;

Migration migration_of(const std::string& status) {
  if (status.empty() || status == "none") return Migration::kNone;
  if (status == "completed") return Migration::kCompleted;
  return status == "failed" || status == "cancelled" ? Migration::kFailed : Migration::kActive;
}

std::string progress_of(const Json& figures) {
  const Json* ram = member(figures, "ram", Json::value_t::object);
  if (ram == nullptr) return "migrating";
  const auto left = number_member(*ram, "remaining");
  return left ? "migrating, " + std::to_string(*left >> 20U) + " MiB left" : "migrating";
}

}  // namespace

Result<MigrationState> ask_migration(Qmp& qmp, const Deadline& deadline) {
  auto figures = qmp.execute("query-migrate", Json::object(), deadline);
  if (!figures) return tl::unexpected(figures.error());
  const std::string status = text_member(*figures, "status");
  const std::string said = text_member(*figures, "error-desc");
  std::string why = "the migration " +
                    (status.empty() ? "has not begun" : "ended as '" + one_line(status) + "'") +
                    (said.empty() ? "" : ": " + one_line(said));
  return MigrationState{migration_of(status), std::move(why), std::move(*figures)};
}

Status cancel_migration(Qmp& qmp, const Deadline& deadline) {
  return qmp.tell("migrate_cancel", Json::object(), deadline);
}

Status follow_migration(Qmp& qmp, const Deadline& deadline, const Progress& progress,
                        MigrationState& state) {
  for (;;) {
    auto now = ask_migration(qmp, deadline);
    if (!now) return tl::unexpected(now.error());
    state = std::move(*now);
    if (state.migration != Migration::kActive) return {};
    progress(progress_of(state.figures));
    const auto event = qmp.wait_event("MIGRATION", "", deadline.at_most(kBetweenLooks));
    const bool waited = !event && event.error().code == Errc::kTimeout;
    if (!event && !(waited && monotonic_now() < deadline.at)) return tl::unexpected(event.error());
  }
}

Status set_capabilities(Qmp& qmp, bool return_path, const Deadline& deadline) {
  const auto capability = [](const char* name, bool state) {
    return Json{{"capability", name}, {"state", state}};
  };
  const Json wanted = Json::array({capability("events", true), capability("postcopy-ram", false),
                                   capability("pause-before-switchover", false),
                                   capability("return-path", return_path)});
  return qmp.tell("migrate-set-capabilities", {{"capabilities", wanted}}, deadline);
}

Result<std::string> run_state(Qmp& qmp, const Deadline& deadline) {
  return qmp.execute("query-status", Json::object(), deadline).map([](const Json& status) {
    return text_member(status, "status");
  });
}

Status wait_running(Qmp& qmp, const Deadline& deadline) {
  constexpr const char* kComing[] = {"inmigrate", "finish-migrate", "restore-vm"};
  constexpr const char* kWaiting[] = {"paused", "prelaunch", "postmigrate"};
  for (;;) {
    const auto state = run_state(qmp, deadline);
    if (!state) return tl::unexpected(state.error());
    if (*state == "running") return {};
    if (std::find(std::begin(kWaiting), std::end(kWaiting), *state) != std::end(kWaiting)) {
      if (auto gone_on = qmp.tell("cont", Json::object(), deadline); !gone_on) return gone_on;
    } else if (std::find(std::begin(kComing), std::end(kComing), *state) == std::end(kComing)) {
      return fail(Errc::kRefused, "QEMU says of its guest: " + one_line(*state));
    }
    pause(kUntilNext, deadline);
  }
}

Status wait_stopped(Qmp& qmp, const Deadline& deadline) {
  for (;;) {
    const auto state = run_state(qmp, deadline);
    if (!state) return tl::unexpected(state.error());
    if (*state != "running") return {};
    if (auto stopped = qmp.tell("stop", Json::object(), deadline); !stopped) return stopped;
  }
}

}  // namespace livebtl::hypervisor
