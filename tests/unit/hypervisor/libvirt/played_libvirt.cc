// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/played_libvirt.cc -- see played_libvirt.h: queries about a domain,
// its devices and its metadata.
#include "tests/unit/hypervisor/libvirt/played_calls.h"

#include <cstring>
#include <sstream>
#include <thread>

#include "hypervisor/libvirt/domain_xml.h"

namespace livebtl::hypervisor {
namespace {

using Place = PlayedLibvirt::Place;
using State = FakeMachine::State;

/// libvirt has no domain that waits for a migration, and forgets one that has moved away.
bool is_active(const State& state) { return state.status == "running" || state.status == "paused"; }

int initialize() { return 0; }
void set_error_function(void*, virErrorFunc) {}
int event_run() {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return 0;
}
int event_add_timeout(int, virEventTimeoutCallback, void*, virFreeCallback) { return 1; }

virConnectPtr open_connection(const char* uri) {
  Place* const place = PlayedLibvirt::current().find(uri == nullptr ? "" : uri);
  if (place != nullptr && !played::gone(*place)) return reinterpret_cast<virConnectPtr>(place);
  played::failed(VIR_ERR_SYSTEM_ERROR, "Failed to connect socket: No such file or directory",
                 VIR_FROM_RPC);
  return nullptr;
}
int close_connection(virConnectPtr) { return 0; }
int set_keep_alive(virConnectPtr, int, unsigned) { return 0; }

int subscribe_to(virConnectPtr connection, virDomainPtr, int event,
                 virConnectDomainEventGenericCallback call, void* opaque, virFreeCallback forget) {
  while (played::place_of(connection).subscribing_hangs.load()) std::this_thread::yield();
  return PlayedLibvirt::current().subscribe(
      {&played::place_of(connection), event, call, opaque, forget});
}
int unsubscribe_from(virConnectPtr connection, int number) {
  Place& place = played::place_of(connection);
  while (place.unsubscribing_hangs.load()) std::this_thread::yield();
  PlayedLibvirt::current().unsubscribe(number);
  place.unsubscribed.fetch_add(1);
  return 0;
}

virDomainPtr lookup(virConnectPtr connection, const char* name) {
  Place& place = played::place_of(connection);
  if (played::gone(place)) return nullptr;
  const bool there = name == std::string(kPlayedDomain) &&
                     place.machine->with([](State& state) { return is_active(state); });
  if (there) return reinterpret_cast<virDomainPtr>(&place);
  played::failed(VIR_ERR_NO_DOMAIN,
                 std::string("Domain not found: no domain with matching name '") + name + "'");
  return nullptr;
}
int free_domain(virDomainPtr) { return 0; }

void end_in_look(Place& place) {
  if (!place.busy.load() || place.succeeds_in_look.load() == 0) return;
  if (place.succeeds_in_look.fetch_sub(1) > 1) return;
  place.machine->with([](State& state) { state.migration = "completed"; });
  while (!place.migrate_over->load()) std::this_thread::yield();
}

int get_state(virDomainPtr domain, int* state, int* reason, unsigned) {
  Place& place = played::place_of(domain);
  if (played::gone(place)) return -1;
  const std::string status = place.machine->with([](State& now) { return now.status; });
  *state = status == "running"  ? VIR_DOMAIN_RUNNING
           : status == "paused" ? VIR_DOMAIN_PAUSED
                                : VIR_DOMAIN_SHUTOFF;
  *reason = 0;
  end_in_look(place);
  return 0;
}

/// Each card is an element with its driver's name.
char* get_xml(virDomainPtr domain, unsigned) {
  Place& place = played::place_of(domain);
  if (played::gone(place)) return nullptr;
  std::ostringstream xml;
  xml << "<domain><devices><disk><source file='/a'/><target dev='vda'/><readonly/></disk>";
  place.machine->with([&xml](State& state) {
    if (state.writable_disk) xml << "<disk><source file='/b'/><target dev='disk0'/></disk>";
    for (const auto& [id, arguments] : state.cards)
      xml << "<" << text_member(arguments, "driver") << "><alias name='" << id << "'/></"
          << text_member(arguments, "driver") << ">";
  });
  return played::copy_of(xml.str() + "</devices></domain>");
}

int get_job_stats(virDomainPtr domain, int* type, virTypedParameterPtr* params, int* count,
                  unsigned flags) {
  Place& place = played::place_of(domain);
  if (played::gone(place)) return -1;
  *type = flags != 0          ? VIR_DOMAIN_JOB_COMPLETED
          : place.busy.load() ? VIR_DOMAIN_JOB_UNBOUNDED
                              : VIR_DOMAIN_JOB_NONE;
  *count = flags != 0 ? 1 : 0;
  *params = static_cast<virTypedParameterPtr>(std::calloc(1, sizeof(virTypedParameter)));
  std::strcpy((*params)->field, VIR_DOMAIN_JOB_DOWNTIME);
  (*params)->type = VIR_TYPED_PARAM_ULLONG;
  (*params)->value.ul = 3;
  return 0;
}
void free_params(virTypedParameterPtr params, int) { std::free(params); }

int abort_job(virDomainPtr domain) {
  Place& place = played::place_of(domain);
  if (played::gone(place)) return -1;
  if (!place.busy.load())
    return played::failed(VIR_ERR_OPERATION_INVALID, "no job is active on the domain");
  place.machine->with([](State& state) {
    if (state.unanswered.contains("migrate_cancel")) return;
    state.log.emplace_back("migrate_cancel");
    state.migration = "cancelled";
  });
  return 0;
}
int is_persistent(virDomainPtr) { return 0; }

std::string note_of(const char* uri) { return std::string(uri).substr(note_namespace("").size()); }

int set_metadata(virDomainPtr domain, int, const char* text, const char*, const char* uri,
                 unsigned) {
  Place& place = played::place_of(domain);
  if (played::gone(place)) return -1;
  place.machine->with([&](State& state) {
    if (text == nullptr) {
      state.objects.erase(note_of(uri));
    } else {
      state.objects[note_of(uri)] = read_note_xml(text);
    }
  });
  return 0;
}
char* get_metadata(virDomainPtr domain, int, const char* uri, unsigned) {
  Place& place = played::place_of(domain);
  if (played::gone(place)) return nullptr;
  const std::string text = place.machine->with([&](State& state) {
    const auto found = state.objects.find(note_of(uri));
    return found == state.objects.end() ? std::string() : note_xml(found->second);
  });
  if (!text.empty()) return played::copy_of(text);
  played::failed(VIR_ERR_NO_DOMAIN_METADATA, "metadata not found");
  return nullptr;
}

int detach(virDomainPtr domain, const char* alias, unsigned) {
  Place& place = played::place_of(domain);
  if (played::gone(place)) return -1;
  const Json refused = place.machine->with([&](State& state) -> Json {
    if (state.refused.contains("device_del")) return "told to refuse";
    if (state.fixed.contains(alias)) return "Bus 'pcie.0' does not support hotplugging";
    if (state.busy > 0) {
      --state.busy;
      return "Hot-unplug failed: guest is busy (power indicator blinking)";
    }
    if (!state.holds) state.cards.erase(alias);
    state.log.push_back(std::string("device_del ") + alias);
    return {};
  });
  if (!refused.is_null()) return played::said_so(refused);
  PlayedLibvirt::current().tell(place, VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED, alias);
  return 0;
}

int attach(virDomainPtr domain, const char* xml, unsigned) {
  Place& place = played::place_of(domain);
  if (played::gone(place)) return -1;
  const std::string text = xml;
  const auto after = text.find("name=\"") + 6;
  const std::string id = text.substr(after, text.find('"', after) - after);
  const std::string driver = text.substr(1, text.find('>') - 1);
  const Json refused = place.machine->with([&](State& state) -> Json {
    if (state.refused.contains("device_add")) return "told to refuse";
    state.cards[id] = {{"driver", driver}, {"id", id}};
    state.log.push_back("device_add " + id);
    return {};
  });
  return refused.is_null() ? 0 : played::said_so(refused);
}

int suspend(virDomainPtr domain) {
  played::place_of(domain).machine->with([](State& state) {
    state.status = "paused";
    state.log.emplace_back("stop");
  });
  return 0;
}
int resume(virDomainPtr domain) {
  played::place_of(domain).machine->with([](State& state) {
    state.status = "running";
    state.log.emplace_back("cont");
  });
  return 0;
}

void set_domain_calls(LibvirtCalls& calls) {
  calls.lookup = lookup;
  calls.free_domain = free_domain;
  calls.get_state = get_state;
  calls.get_xml = get_xml;
  calls.get_job_stats = get_job_stats;
  calls.abort_job = abort_job;
  calls.is_persistent = is_persistent;
  calls.set_metadata = set_metadata;
  calls.get_metadata = get_metadata;
  calls.detach = detach;
  calls.attach = attach;
  calls.suspend = suspend;
  calls.resume = resume;
  calls.free_params = free_params;
}

}  // namespace

LibvirtCalls PlayedLibvirt::calls() {
  LibvirtCalls calls;
  calls.initialize = initialize;
  calls.set_error_function = set_error_function;
  calls.last_error = played::last_error;
  calls.event_register = initialize;
  calls.event_run = event_run;
  calls.event_add_timeout = event_add_timeout;
  calls.open = open_connection;
  calls.close = close_connection;
  calls.set_keep_alive = set_keep_alive;
  calls.event_subscribe = subscribe_to;
  calls.event_unsubscribe = unsubscribe_from;
  set_domain_calls(calls);
  played::set_memory_calls(calls);
  return calls;
}

}  // namespace livebtl::hypervisor
