// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/qmp_memory.cc -- the part of qmp_vm.h on a machine's memory: to another machine,
// to a file, or from one. Run by btlctl's one thread.
#include "hypervisor/qmp/card.h"
#include "hypervisor/qmp/migration.h"
#include "hypervisor/qmp/note.h"
#include "hypervisor/qmp/qmp_vm.h"

namespace livebtl::hypervisor {
namespace {

constexpr std::uint64_t kUnbounded = std::uint64_t{1} << 40U;  // bytes a second
constexpr const char* kBandwidth = "max-bandwidth";            // in QEMU, and in our note of it
/// The monitor's name for the descriptor of the file that a machine's state goes to or comes from.
constexpr const char* kStateDescriptor = "livebtl";
constexpr const char* kStateUri = "fd:livebtl";

/// A return path, by which the destination acknowledges that it has all, takes a socket.
bool has_return_path(const std::string& uri) {
  return uri.starts_with("tcp:") || uri.starts_with("unix:");
}

Status set_bandwidth(Qmp& qmp, std::uint64_t bytes_a_second, const Deadline& deadline) {
  return qmp.tell("migrate-set-parameters", {{kBandwidth, bytes_a_second}}, deadline);
}

Status drop_memory_of(Qmp& qmp, const std::vector<Card>& cards, const Deadline& deadline) {
  for (const Card& card : cards) {
    if (auto gone = drop_shared_memory(qmp, card, deadline); !gone) return gone;
  }
  return {};
}

Status give(Qmp& qmp, MemoryFile file, const Deadline& deadline) {
  return qmp.give_descriptor(kStateDescriptor, file.descriptor, deadline);
}

Status save_to(Qmp& qmp, MemoryFile file, const std::vector<Card>& cards, const Progress& progress,
               const Deadline& deadline) {
  if (auto gone = drop_memory_of(qmp, cards, deadline); !gone) return gone;
  if (auto set = set_capabilities(qmp, false, deadline); !set) return set;
  if (auto stopped = wait_stopped(qmp, deadline); !stopped) return stopped;
  if (auto given = give(qmp, std::move(file), deadline); !given) return given;
  if (auto begun = qmp.tell("migrate", {{"uri", kStateUri}}, deadline); !begun) return begun;
  MigrationState state;
  if (auto followed = hypervisor::follow_migration(qmp, deadline, progress, state); !followed)
    return followed;
  if (state.migration == Migration::kCompleted) return {};
  return fail(Errc::kRefused, state.why);
}

Status load_from(Qmp& qmp, MemoryFile file, const Progress& progress, const Deadline& deadline) {
  auto state = ask_migration(qmp, deadline);
  if (!state) return tl::unexpected(state.error());
  if (state->migration == Migration::kNone) {
    if (auto set = set_capabilities(qmp, false, deadline); !set) return set;
    if (auto given = give(qmp, std::move(file), deadline); !given) return given;
    auto begun = qmp.tell("migrate-incoming", {{"uri", kStateUri}}, deadline);
    if (!begun) return begun;
  }
  auto followed = hypervisor::follow_migration(qmp, deadline, progress, *state);
  if (!followed && followed.error().code == Errc::kDown)
    return fail(Errc::kDown, "QEMU has ended (" + followed.error().text +
                                 "): is it the same machine as the one that was saved? Its "
                                 "standard error says more");
  if (!followed) return followed;
  if (state->migration == Migration::kCompleted) return {};
  return fail(Errc::kRefused, state->why);
}

/// Gives up a save that is under way.
Status end_save(Qmp& qmp, const Deadline& deadline) {
  auto state = ask_migration(qmp, deadline);
  if (!state) return tl::unexpected(state.error());
  if (state->migration != Migration::kActive) return {};
  if (auto asked = hypervisor::cancel_migration(qmp, deadline); !asked) return asked;
  const auto quietly = [](const std::string&) {};
  return hypervisor::follow_migration(qmp, deadline, quietly, *state);
}

}  // namespace

Status QmpVm::go_on(const Deadline& deadline) { return act(wait_running, deadline); }
Status QmpVm::halt(const Deadline& deadline) { return act(wait_stopped, deadline); }

Status QmpVm::begin_migration(const std::string& to, const std::vector<Card>& cards,
                              const Deadline& deadline) {
  const auto begin = [&](Qmp& qmp, const Deadline& until) -> Status {
    if (auto gone = drop_memory_of(qmp, cards, until); !gone) return gone;
    if (auto set = set_capabilities(qmp, has_return_path(to), until); !set) return set;
    return qmp.tell("migrate", {{"uri", to}}, until);
  };
  return act(begin, deadline);
}

Status QmpVm::follow_migration(const Deadline& deadline, const Progress& progress,
                               MigrationState& state) {
  return act(
      [&](Qmp& qmp, const Deadline& until) {
        return hypervisor::follow_migration(qmp, until, progress, state);
      },
      deadline);
}

Status QmpVm::cancel_migration(const Deadline& deadline) {
  return act(hypervisor::cancel_migration, deadline);
}

Status QmpVm::reset_migration(const Deadline& deadline) {
  return act([](Qmp& qmp, const Deadline& until) { return set_capabilities(qmp, false, until); },
             deadline);
}

/// nullopt if it was not raised. An earlier call's note counts, since that call may have raised it.
Result<std::optional<std::uint64_t>> QmpVm::bandwidth_before(Qmp& qmp, const Deadline& deadline) {
  const auto text = hypervisor::read_note(qmp, kBandwidthNote, deadline);
  if (!text) return tl::unexpected(text.error());
  return number_member(parse_bounded(*text), kBandwidth);
}

/// Raises the bandwidth, because a machine stands still while it is saved.
Status QmpVm::prepare_saves(const Deadline& deadline) {
  const auto lift = [this](Qmp& qmp, const Deadline& until) -> Status {
    const auto noted = bandwidth_before(qmp, until);
    if (!noted) return tl::unexpected(noted.error());
    if (!*noted) {
      const auto now = qmp.execute("query-migrate-parameters", Json::object(), until);
      if (!now) return tl::unexpected(now.error());
      const auto allowed = number_member(*now, kBandwidth);
      if (!allowed) return fail(Errc::kCorrupt, "QEMU does not say its max-bandwidth");
      const Json before = {{kBandwidth, *allowed}};
      auto kept = hypervisor::keep_note(qmp, kBandwidthNote, before.dump(), until);
      if (!kept) return kept;
    }
    return set_bandwidth(qmp, kUnbounded, until);
  };
  return act(lift, deadline);
}

Status QmpVm::settle_saves(const Deadline& deadline) {
  const auto put_back = [this](Qmp& qmp, const Deadline& until) -> Status {
    const auto noted = bandwidth_before(qmp, until);
    if (!noted) return tl::unexpected(noted.error());
    if (!*noted) return {};
    if (auto set = set_bandwidth(qmp, **noted, until); !set) return set;
    return delete_object(qmp, kBandwidthNote, until);
  };
  return act(put_back, deadline);
}

Status QmpVm::save(MemoryFile file, const std::vector<Card>& cards, const Progress& progress,
                   const Deadline& deadline) {
  return act(
      [&](Qmp& qmp, const Deadline& until) {
        return save_to(qmp, std::move(file), cards, progress, until);
      },
      deadline);
}

Status QmpVm::give_up_save(const Deadline& deadline) { return act(end_save, deadline); }

Status QmpVm::load(MemoryFile file, const Progress& progress, const Deadline& deadline) {
  return act(
      [&](Qmp& qmp, const Deadline& until) {
        return load_from(qmp, std::move(file), progress, until);
      },
      deadline);
}

}  // namespace livebtl::hypervisor
