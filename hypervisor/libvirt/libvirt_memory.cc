// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/libvirt_memory.cc -- the part of libvirt_vm.h on moving a domain to another
// host, into a file or out of one. Run by btlctl's one thread.
#include "hypervisor/libvirt/domain_xml.h"
#include "hypervisor/libvirt/libvirt_vm.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kMemoryLookEvery = 200 * kMillisecond;
constexpr TimeNs kUntilBegun = 5 * kSecond;

std::string figures_of(const Json& figures) {
  const auto left = number_member(figures, "remaining");
  return left ? "migrating, " + std::to_string(*left >> 20U) + " MiB left" : "migrating";
}

/// A persistent domain is then defined where it runs, and no longer here: else it could be started
/// twice.
unsigned long migrate_flags(bool persistent) {
  unsigned long flags = VIR_MIGRATE_LIVE | VIR_MIGRATE_PEER2PEER | VIR_MIGRATE_ABORT_ON_ERROR;
  if (persistent) flags |= VIR_MIGRATE_PERSIST_DEST | VIR_MIGRATE_UNDEFINE_SOURCE;
  return flags;
}

}  // namespace

Status LibvirtVm::go_on(const Deadline& deadline) {
  for (;;) {
    const auto seen = see(deadline);
    if (!seen) return tl::unexpected(seen.error());
    if (seen->active && seen->state == VIR_DOMAIN_RUNNING) return {};
    if (!seen->active)
      return fail(Errc::kRefused, "at " + name() + " the domain " + name_ +
                                      " has ended; see its log, /var/log/libvirt/qemu/" + name_ +
                                      ".log");
    if (!seen->busy && seen->state == VIR_DOMAIN_PAUSED) {
      Status resumed = on_domain(
          [](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
            if (calls.resume(domain) == 0) return {};
            return tl::unexpected(libvirt_error(calls, "resume"));
          },
          "resume " + name_, deadline);
      if (!resumed) return resumed;
    }
    pause(kMemoryLookEvery, deadline);
  }
}

Status LibvirtVm::halt(const Deadline& deadline) {
  const auto seen = see(deadline);
  if (!seen) return tl::unexpected(seen.error());
  if (!seen->active || seen->state == VIR_DOMAIN_PAUSED) return {};
  return on_domain(
      [](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
        if (calls.suspend(domain) == 0) return {};
        return tl::unexpected(libvirt_error(calls, "suspend"));
      },
      "suspend " + name_, deadline);
}

/// Migrates from daemon to daemon, so that it goes on if this process ends.
Status LibvirtVm::begin_migration(const std::string& to, const std::vector<Card>&,
                                  const Deadline& deadline) {
  const auto seen = see(deadline);
  if (!seen) return tl::unexpected(seen.error());
  auto begun =
      begin(with_domain([to, flags = migrate_flags(seen->persistent)](
                            const LibvirtCalls& calls, virDomainPtr domain) -> Status {
              if (calls.migrate(domain, to.c_str(), nullptr, 0, static_cast<unsigned>(flags)) == 0)
                return {};
              return tl::unexpected(libvirt_error(calls, "migrate to " + to));
            }),
            deadline);
  if (!begun) return tl::unexpected(begun.error());
  migration_ = std::move(*begun);
  // Wait until libvirt shows the migration, or is done with it: an earlier look would find none.
  const Deadline first = deadline.at_most(kUntilBegun);
  while (monotonic_now() < first.at && !first.stopped() && !migration_->ended()) {
    const auto now = see(first);
    if (now && (now->busy || !now->active)) break;
    pause(kMemoryLookEvery, first);
  }
  return {};
}

/// The domains decide, not the call's answer, which is lost with this process or with the daemon.
Status LibvirtVm::follow_migration(const Deadline& deadline, const Progress& progress,
                                   MigrationState& state) {
  for (;;) {
    // Before the look: what a domain shows while the call is at work does not say how it ends.
    const bool asking = migration_ && !migration_->ended();
    const auto seen = see(deadline);
    const bool gone =
        !seen && (seen.error().code == Errc::kDown || seen.error().code == Errc::kNotFound);
    if (!seen && !gone) return tl::unexpected(seen.error());
    if (seen && !seen->figures.empty()) state.figures = seen->figures;
    if (seen && !seen->busy && !(asking && seen->active)) {
      const auto moved = has_moved(*seen, deadline);
      if (moved && (*moved || seen->active)) {
        state.migration = *moved ? Migration::kCompleted : Migration::kFailed;
        state.why = "the migration was given up";
        const Status said = migration_ ? migration_->wait(deadline, "migrate") : Status();
        if (!said) state.why = said.error().text;
        if (*moved) figures_there(state, deadline);
        migration_.reset();
        return {};
      }
    }
    state.migration = Migration::kActive;
    progress(seen ? figures_of(seen->figures) : "libvirt's daemon does not answer");
    pause(kMemoryLookEvery, deadline);
    if (deadline.stopped()) return fail(Errc::kCancelled, "interrupted");
    if (monotonic_now() >= deadline.at)
      return fail(Errc::kTimeout, "libvirt does not say in time how the migration has ended");
  }
}

Status LibvirtVm::cancel_migration(const Deadline& deadline) { return give_up_save(deadline); }

/// Ends the domain's job, whichever it is; succeeds if there is none.
Status LibvirtVm::give_up_save(const Deadline& deadline) {
  const auto seen = see(deadline);
  if (!seen) return tl::unexpected(seen.error());
  if (!seen->busy) return {};
  Status aborted = on_domain(
      [](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
        if (calls.abort_job(domain) == 0) return {};
        return tl::unexpected(libvirt_error(calls, "abort the job"));
      },
      "abort the job of " + name_, deadline);
  for (auto now = see(deadline); now && now->busy; now = see(deadline)) {
    if (monotonic_now() >= deadline.at) return aborted;
    pause(kMemoryLookEvery, deadline);
  }
  return {};
}

Status LibvirtVm::save(MemoryFile file, const std::vector<Card>&, const Progress& progress,
                       const Deadline& deadline) {
  file.descriptor = Fd();  // libvirt's daemon writes to it by its name
  const auto text = xml(deadline);
  if (!text) return tl::unexpected(text.error());
  const auto disks = all_disks(*text);
  if (!disks) return tl::unexpected(disks.error());
  progress("saving");
  Status saved = on_domain(
      [snapshot = memory_snapshot_xml(file.path, *disks)](const LibvirtCalls& calls,
                                                          virDomainPtr domain) -> Status {
        const virDomainSnapshotPtr made =
            calls.create_snapshot(domain, snapshot.c_str(), VIR_DOMAIN_SNAPSHOT_CREATE_NO_METADATA);
        if (made == nullptr) return tl::unexpected(libvirt_error(calls, "save the memory"));
        calls.free_snapshot(made);
        return {};
      },
      "save the memory of " + name_, deadline);
  return saved;
}

Status LibvirtVm::load(MemoryFile file, const Progress& progress, const Deadline& deadline) {
  const auto seen = see(deadline);
  if (!seen) return tl::unexpected(seen.error());
  if (seen->active) return mark_loaded(deadline);  // by a call that was killed
  progress("loading");
  file.descriptor = Fd();
  auto loaded = on_connection(
      [path = file.path](const Connection& opened) -> Status {
        const LibvirtCalls& calls = opened.calls();
        if (calls.restore(opened.get(), path.c_str(), nullptr, VIR_DOMAIN_SAVE_PAUSED) == 0)
          return {};
        return tl::unexpected(libvirt_error(calls, "restore " + path));
      },
      "restore " + name_, deadline);
  if (!loaded) return loaded;
  const auto after = see(deadline);
  if (!after) return tl::unexpected(after.error());
  if (!after->active)
    return fail(Errc::kRefused, "the file is the memory of another domain than " + name_ +
                                    ", which stands still now under its own name; end it");
  return mark_loaded(deadline);
}

// A daemon that is killed while it starts the guest's QEMU, and comes back, keeps its half for
// ever: with libvirt 9.0 the domain is then "paused (starting up)", has no process, and cannot be
// destroyed (its lock is held).
std::string LibvirtVm::left_there(const Deadline& deadline) {
  if (there_ == nullptr) return {};
  DomainSeen last;
  do {
    const auto seen = there_->see(deadline);
    if (seen && !seen->active) return {};
    if (seen) last = *seen;
    pause(kMemoryLookEvery, deadline);
  } while (monotonic_now() < deadline.at && !deadline.stopped());
  return last.active ? there_->in_the_way(last) : std::string();
}

std::string LibvirtVm::in_the_way(const DomainSeen& seen) const {
  if (seen.state == VIR_DOMAIN_RUNNING)
    return "at " + name() + " a domain " + name_ + " runs: end it there or here";
  std::string words = "virsh -c " + name() + " destroy " + name_ + ": a domain " + name_ +
                      " is paused there, perhaps left by a migration that failed";
  if (is_starting_up(seen))
    words +=
        "; if that ends in a time-out, and no QEMU process of it runs there, stop libvirt's "
        "daemon there, remove /run/libvirt/qemu/" +
        name_ + ".xml, and start it";
  return words;
}

}  // namespace livebtl::hypervisor
