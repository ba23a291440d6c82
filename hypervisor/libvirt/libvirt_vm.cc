// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/libvirt/libvirt_vm.cc -- see libvirt_vm.h: calls to a domain, and its state.
#include "hypervisor/libvirt/libvirt_vm.h"

#include "hypervisor/libvirt/domain_xml.h"

namespace livebtl::hypervisor {
namespace {

/// Stores job statistics under the names of QEMU's own, which the report shows.
void read_figures(const virTypedParameter* params, int count, Json& figures) {
  for (int i = 0; i < count; ++i) {
    if (params[i].type != VIR_TYPED_PARAM_ULLONG) continue;
    const std::string field = params[i].field;
    const std::uint64_t value = params[i].value.ul;
    if (field == VIR_DOMAIN_JOB_TIME_ELAPSED) figures["total-time"] = value;
    if (field == VIR_DOMAIN_JOB_DOWNTIME) figures["downtime"] = value;
    if (field == VIR_DOMAIN_JOB_SETUP_TIME) figures["setup-time"] = value;
    if (field == VIR_DOMAIN_JOB_MEMORY_REMAINING) figures["remaining"] = value;
  }
}

/// The job's type; VIR_DOMAIN_JOB_NONE also if it cannot be read, as when the domain has just
/// ended.
int read_job(const LibvirtCalls& calls, virDomainPtr domain, unsigned flags, Json& figures) {
  int type = VIR_DOMAIN_JOB_NONE, count = 0;
  virTypedParameterPtr params = nullptr;
  if (calls.get_job_stats(domain, &type, &params, &count, flags) != 0) return VIR_DOMAIN_JOB_NONE;
  read_figures(params, count, figures);
  calls.free_params(params, count);
  return type;
}

Status see_domain(const LibvirtCalls& calls, virDomainPtr domain, DomainSeen& seen) {
  if (calls.get_state(domain, &seen.state, &seen.reason, 0) != 0)
    return tl::unexpected(libvirt_error(calls, "ask for the domain's state"));
  seen.there = true;
  seen.active = seen.state != VIR_DOMAIN_SHUTOFF && seen.state != VIR_DOMAIN_CRASHED;
  seen.persistent = calls.is_persistent(domain) == 1;
  const int job = seen.active ? read_job(calls, domain, 0, seen.figures) : VIR_DOMAIN_JOB_NONE;
  seen.busy = job == VIR_DOMAIN_JOB_BOUNDED || job == VIR_DOMAIN_JOB_UNBOUNDED;
  return {};
}

const char* word_of(const DomainSeen& seen) {
  if (!seen.there) return "not there";
  switch (seen.state) {
    case VIR_DOMAIN_RUNNING:
      return "running";
    case VIR_DOMAIN_PAUSED:
      return "paused";
    case VIR_DOMAIN_SHUTOFF:
      return "shut off";
    default:
      return "neither running nor paused";
  }
}

}  // namespace

LibvirtVm::LibvirtVm(std::shared_ptr<const Libvirt> libvirt, const VmPlace& place, LibvirtVm* there)
    : libvirt_(std::move(libvirt)),
      uri_(place.monitor),
      name_(place.domain),
      there_(there),
      agent_(*this) {}

std::unique_ptr<Vm> LibvirtHypervisor::reach(const VmPlace& place, Vm* there) const {
  return std::make_unique<LibvirtVm>(libvirt_, place, dynamic_cast<LibvirtVm*>(there));
}

Result<std::shared_ptr<Connection>> LibvirtVm::connection(const Deadline& deadline) {
  if (!connection_) {
    auto opened = Connection::open(libvirt_, uri_, deadline);
    if (!opened) return opened;
    connection_ = std::move(*opened);
  }
  return connection_;
}

Result<PendingCall> LibvirtVm::begin(OnConnection call, const Deadline& deadline) {
  auto opened = connection(deadline);
  if (!opened) return tl::unexpected(opened.error());
  return PendingCall(
      [connection = std::move(*opened), call = std::move(call)] { return call(*connection); });
}

/// A late call keeps its connection: the next call opens another, and may find the daemon healthy.
Status LibvirtVm::on_connection(OnConnection call, const std::string& what,
                                const Deadline& deadline) {
  const auto pending = begin(std::move(call), deadline);
  if (!pending) return tl::unexpected(pending.error());
  Status status = pending->wait(deadline, what);
  const bool late = !status && !pending->ended();
  if (late || (!status && status.error().code == Errc::kDown)) connection_.reset();
  return status;
}

LibvirtVm::OnConnection LibvirtVm::with_domain(OnDomain call) const {
  return [call = std::move(call), name = name_,
          where = this->name()](const Connection& opened) -> Status {
    const Domain domain(opened, name);
    if (domain.get() != nullptr) return call(opened.calls(), domain.get());
    Error error = libvirt_error(opened.calls(), "look up '" + name + "' at " + where);
    if (error.code == Errc::kNotFound) error.text += "; virsh list --all shows what there is";
    return tl::unexpected(std::move(error));
  };
}

Status LibvirtVm::on_domain(OnDomain call, const std::string& what, const Deadline& deadline) {
  return on_connection(with_domain(std::move(call)), what, deadline);
}

Result<DomainSeen> LibvirtVm::see(const Deadline& deadline) {
  const auto seen = std::make_shared<DomainSeen>();
  const Status asked =
      on_domain([seen](const LibvirtCalls& calls,
                       virDomainPtr domain) { return see_domain(calls, domain, *seen); },
                "ask for the state of " + name_, deadline);
  if (!asked && asked.error().code != Errc::kNotFound) return tl::unexpected(asked.error());
  if (!asked && !connection_) return tl::unexpected(asked.error());  // no daemon was reached
  return *seen;
}

Result<bool> LibvirtVm::has_moved(const DomainSeen& seen, const Deadline& deadline) {
  if (seen.active) return false;
  if (seen.there && seen.reason == VIR_DOMAIN_SHUTOFF_MIGRATED) return true;
  if (there_ == nullptr) return false;
  return there_->see(deadline).map([](const DomainSeen& other) { return other.active; });
}

/// If a call was killed between loading the domain and noting that, the domain has the note of its
/// hold, and stands still.
Result<bool> LibvirtVm::is_loaded(const DomainSeen& seen, const Deadline& deadline) {
  if (!seen.active) return false;
  const auto loaded = read_note(kLoadedNote, deadline);
  if (!loaded || !loaded->empty()) return loaded.map([](const std::string&) { return true; });
  if (seen.busy || seen.state != VIR_DOMAIN_PAUSED) return false;
  return read_note(kHoldNote, deadline).map([](const std::string& note) { return !note.empty(); });
}

Result<VmState> LibvirtVm::look(const Deadline& deadline) {
  const auto seen = see(deadline);
  if (!seen) return tl::unexpected(seen.error());
  const auto moved = has_moved(*seen, deadline);
  if (!moved) return tl::unexpected(moved.error());
  const auto loaded = is_loaded(*seen, deadline);
  if (!loaded) return tl::unexpected(loaded.error());
  VmState state;
  state.word = word_of(*seen);
  state.running = seen->state == VIR_DOMAIN_RUNNING && seen->active;
  state.sent = *moved;
  state.waits = !seen->active && !*moved;
  state.received = *loaded;
  state.migration.figures = seen->figures;
  const bool stranded =
      seen->state == VIR_DOMAIN_PAUSED && seen->reason == VIR_DOMAIN_PAUSED_MIGRATION;
  state.migration.migration = seen->busy ? Migration::kActive
                              : *moved   ? Migration::kCompleted
                              : stranded ? Migration::kFailed
                                         : Migration::kNone;
  return state;
}

Status LibvirtVm::look_ready(const Deadline& deadline) {
  const auto seen = see(deadline);
  if (!seen) return tl::unexpected(seen.error());
  if (!seen->active) return {};
  if (is_starting_up(*seen))
    return fail(Errc::kRefused, in_the_way(*seen) + "; then call again, or name another place");
  return fail(Errc::kRefused, "at " + name() + " a domain " + name_ +
                                  " runs already; end it (virsh destroy " + name_ +
                                  "), or name another place, and call again");
}

Result<std::string> LibvirtVm::xml(const Deadline& deadline) {
  const auto text = std::make_shared<std::string>();
  const Status asked = on_domain(
      [text](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
        char* const said = calls.get_xml(domain, 0);
        if (said == nullptr) return tl::unexpected(libvirt_error(calls, "ask for its XML"));
        *text = taken_text(said);
        return {};
      },
      "ask for the XML of " + name_, deadline);
  if (!asked) return tl::unexpected(asked.error());
  return *text;
}

Status LibvirtVm::look_at_disks(const Deadline& deadline) {
  const auto text = xml(deadline);
  if (!text) return tl::unexpected(text.error());
  const auto disks = writable_disks(*text);
  if (!disks) return tl::unexpected(disks.error());
  return disks->empty() ? Status() : fail(Errc::kRefused, one_line(disks->front()));
}

/// The figures of a migration that is over: the destination has those of both ends.
void LibvirtVm::figures_there(MigrationState& state, const Deadline& deadline) {
  if (there_ == nullptr) return;
  const auto figures = std::make_shared<Json>(Json::object());
  const Status asked = there_->on_domain(
      [figures](const LibvirtCalls& calls, virDomainPtr domain) -> Status {
        (void)read_job(calls, domain, VIR_DOMAIN_JOB_STATS_COMPLETED, *figures);
        return {};
      },
      "ask for the migration's figures", deadline);
  if (asked && !figures->empty()) state.figures = *figures;
}

std::string LibvirtVm::begin_words(const std::string& to, const std::vector<Card>&) const {
  return "libvirt migrates " + name_ + " live, from daemon to daemon, to " + to;
}

std::string LibvirtVm::words_for(VmAct what, const Card* card, const std::string& where) const {
  const std::string xml = card == nullptr ? "" : " " + text_member(card->arguments, "xml");
  switch (what) {
    case VmAct::kUnplug:
      return "detach " + card->id + " from " + name_;
    case VmAct::kPlug:
    case VmAct::kPlugAgain:
      return "attach to " + name_ + xml;
    case VmAct::kSave:
      return "snapshot of the memory of " + name_ + ", to " + where;
    case VmAct::kLoad:
      return "restore " + name_ + ", paused, from " + where;
    case VmAct::kHalt:
      return "suspend " + name_;
    case VmAct::kGoOn:
      break;
  }
  return "resume " + name_;
}

}  // namespace livebtl::hypervisor
