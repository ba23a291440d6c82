// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/played_libvirt.cc -- see played_libvirt.h.
#include "tests/unit/hypervisor/libvirt/played_libvirt.h"

#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "hypervisor/libvirt/domain_xml.h"

namespace livebtl::hypervisor {
namespace {

using Place = PlayedLibvirt::Place;
using State = FakeMachine::State;

PlayedLibvirt* the_one = nullptr;
thread_local virError last_error{};
thread_local std::string last_text;

int failed(int code, const std::string& text, int domain = VIR_FROM_QEMU) {
  last_text = text;
  last_error.code = code;
  last_error.domain = domain;
  last_error.message = last_text.data();
  return -1;
}

Place& place_of(virConnectPtr connection) { return *reinterpret_cast<Place*>(connection); }
Place& place_of(virDomainPtr domain) { return *reinterpret_cast<Place*>(domain); }

bool gone(const Place& place) {
  if (place.crashed.load()) failed(VIR_ERR_RPC, "client socket is closed", VIR_FROM_RPC);
  return place.crashed.load();
}

/// libvirt has no domain that waits, and forgets one that has moved.
bool is_active(const State& state) { return state.status == "running" || state.status == "paused"; }

char* copy_of(const std::string& text) { return ::strdup(text.c_str()); }

int said_so(const Json& refused) {
  return failed(VIR_ERR_OPERATION_FAILED,
                "internal error: unable to execute QEMU command: " + refused.get<std::string>());
}

int initialize() { return 0; }
void set_error_function(void*, virErrorFunc) {}
virErrorPtr get_last_error() { return &last_error; }
int event_run() {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return 0;
}
int event_add_timeout(int, virEventTimeoutCallback, void*, virFreeCallback) { return 1; }

virConnectPtr open_connection(const char* uri) {
  Place* const place = PlayedLibvirt::current().find(uri == nullptr ? "" : uri);
  if (place != nullptr && !place->crashed.load()) return reinterpret_cast<virConnectPtr>(place);
  failed(VIR_ERR_SYSTEM_ERROR, "Failed to connect socket: No such file or directory", VIR_FROM_RPC);
  return nullptr;
}
int close_connection(virConnectPtr) { return 0; }
int set_keep_alive(virConnectPtr, int, unsigned) { return 0; }

int subscribe_to(virConnectPtr connection, virDomainPtr, int event,
              virConnectDomainEventGenericCallback call, void* opaque, virFreeCallback forget) {
  return PlayedLibvirt::current().subscribe({&place_of(connection), event, call, opaque, forget});
}
int unsubscribe_from(virConnectPtr, int number) {
  PlayedLibvirt::current().unsubscribe(number);
  return 0;
}

virDomainPtr lookup(virConnectPtr connection, const char* name) {
  Place& place = place_of(connection);
  if (gone(place)) return nullptr;
  const bool there = name == std::string(kPlayedDomain) &&
                     place.machine->with([](State& state) { return is_active(state); });
  if (there) return reinterpret_cast<virDomainPtr>(&place);
  failed(VIR_ERR_NO_DOMAIN,
         std::string("Domain not found: no domain with matching name '") + name + "'");
  return nullptr;
}
int free_domain(virDomainPtr) { return 0; }

int get_state(virDomainPtr domain, int* state, int* reason, unsigned) {
  Place& place = place_of(domain);
  if (gone(place)) return -1;
  const std::string status = place.machine->with([](State& now) { return now.status; });
  *state = status == "running"  ? VIR_DOMAIN_RUNNING
           : status == "paused" ? VIR_DOMAIN_PAUSED
                                : VIR_DOMAIN_SHUTOFF;
  *reason = 0;
  return 0;
}

/// Each card is an element with its driver's name.
char* get_xml(virDomainPtr domain, unsigned) {
  Place& place = place_of(domain);
  if (gone(place)) return nullptr;
  std::ostringstream xml;
  xml << "<domain><devices><disk><source file='/a'/><target dev='vda'/><readonly/></disk>";
  place.machine->with([&xml](State& state) {
    if (state.writable_disk) xml << "<disk><source file='/b'/><target dev='disk0'/></disk>";
    for (const auto& [id, arguments] : state.cards)
      xml << "<" << text_member(arguments, "driver") << "><alias name='" << id << "'/></"
          << text_member(arguments, "driver") << ">";
  });
  return copy_of(xml.str() + "</devices></domain>");
}

int get_job_stats(virDomainPtr domain, int* type, virTypedParameterPtr* params, int* count,
                  unsigned flags) {
  Place& place = place_of(domain);
  if (gone(place)) return -1;
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
  Place& place = place_of(domain);
  if (gone(place)) return -1;
  if (!place.busy.load())
    return failed(VIR_ERR_OPERATION_INVALID, "no job is active on the domain");
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
  Place& place = place_of(domain);
  if (gone(place)) return -1;
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
  Place& place = place_of(domain);
  if (gone(place)) return nullptr;
  const std::string text = place.machine->with([&](State& state) {
    const auto found = state.objects.find(note_of(uri));
    return found == state.objects.end() ? std::string() : note_xml(found->second);
  });
  if (!text.empty()) return copy_of(text);
  failed(VIR_ERR_NO_DOMAIN_METADATA, "metadata not found");
  return nullptr;
}

int detach(virDomainPtr domain, const char* alias, unsigned) {
  Place& place = place_of(domain);
  if (gone(place)) return -1;
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
  if (!refused.is_null()) return said_so(refused);
  PlayedLibvirt::current().tell(place, VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED, alias);
  return 0;
}

int attach(virDomainPtr domain, const char* xml, unsigned) {
  Place& place = place_of(domain);
  if (gone(place)) return -1;
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
  return refused.is_null() ? 0 : said_so(refused);
}

int suspend(virDomainPtr domain) {
  place_of(domain).machine->with([](State& state) {
    state.status = "paused";
    state.log.emplace_back("stop");
  });
  return 0;
}
int resume(virDomainPtr domain) {
  place_of(domain).machine->with([](State& state) {
    state.status = "running";
    state.log.emplace_back("cont");
  });
  return 0;
}

/// As libvirt does, it ends when the guest runs there and is gone here, or with an error.
int migrate(virDomainPtr domain, const char* to, virTypedParameterPtr, unsigned, unsigned flags) {
  Place& here = place_of(domain);
  CHECK((flags & VIR_MIGRATE_PEER2PEER) != 0);
  Place* const there = PlayedLibvirt::current().find(to);
  if (there == nullptr) return failed(VIR_ERR_NO_CONNECT, "no such daemon", VIR_FROM_RPC);
  const bool refused =
      here.machine->with([](State& state) { return state.refused.contains("migrate"); });
  if (refused) return said_so("told to refuse");
  here.busy.store(true);
  const auto ended = [&here] {
    return here.machine->with([](State& state) { return state.migration != "active"; });
  };
  here.machine->with([](State& state) {
    state.log.emplace_back("migrate");
    state.migration = state.migration_ends.empty() ? "active" : state.migration_ends;
  });
  while (!ended() && !here.crashed.load())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::map<std::string, std::string> notes;
  const std::string end = here.machine->with([&](State& state) {
    notes = state.objects;
    if (state.migration == "completed") state.status = "postmigrate";
    return state.migration;
  });
  if (end == "completed")
    there->machine->with([&notes](State& state) {
      state.status = "running";
      state.objects = notes;
    });
  here.busy.store(false);
  if (here.crashed.load()) return failed(VIR_ERR_RPC, "client socket is closed", VIR_FROM_RPC);
  return end == "completed" ? 0 : failed(VIR_ERR_OPERATION_ABORTED, "operation aborted: " + end);
}

std::string path_in(const std::string& xml) {
  const auto after = xml.find("file=\"") + 6;
  return xml.substr(after, xml.find('"', after) - after);
}

virDomainSnapshotPtr create_snapshot(virDomainPtr domain, const char* xml, unsigned) {
  Place& place = place_of(domain);
  const bool done = place.machine->with([xml](State& state) {
    state.log.emplace_back("migrate");
    if (state.migration_ends != "completed") return false;
    std::ofstream(path_in(xml)) << state.memory << "\n" << Json(state.objects).dump();
    return true;
  });
  if (done) return reinterpret_cast<virDomainSnapshotPtr>(&place);
  failed(VIR_ERR_OPERATION_FAILED, "told to fail");
  return nullptr;
}
int free_snapshot(virDomainSnapshotPtr) { return 0; }

int restore(virConnectPtr connection, const char* path, const char*, unsigned flags) {
  CHECK(flags == VIR_DOMAIN_SAVE_PAUSED);
  std::ifstream file(path);
  std::string memory, notes;
  std::getline(file, memory);
  std::getline(file, notes);
  place_of(connection).machine->with([&](State& state) {
    state.log.emplace_back("migrate-incoming");
    state.memory = memory;
    state.objects = Json::parse(notes).get<std::map<std::string, std::string>>();
    state.status = "paused";
  });
  return 0;
}

char* agent_command(virDomainPtr domain, const char* text, int, unsigned) {
  Place& place = place_of(domain);
  if (gone(place)) return nullptr;
  const Json message = Json::parse(text);
  const Json answer =
      place.machine->ask_agent(message["execute"], message.value("arguments", Json::object()));
  if (answer.contains("return")) return copy_of(answer.dump());
  failed(VIR_ERR_INTERNAL_ERROR,
         "unable to execute QEMU agent command: " + text_member(answer["error"], "desc"));
  return nullptr;
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
  calls.migrate = migrate;
  calls.create_snapshot = create_snapshot;
  calls.free_snapshot = free_snapshot;
  calls.restore = restore;
  calls.free_params = free_params;
  calls.agent_command = agent_command;
}

}  // namespace

PlayedLibvirt::PlayedLibvirt() { the_one = this; }
PlayedLibvirt::~PlayedLibvirt() { the_one = nullptr; }
PlayedLibvirt& PlayedLibvirt::current() { return *the_one; }

void PlayedLibvirt::add(const std::string& uri, FakeMachine& machine) {
  Place* place = find(uri);
  const std::lock_guard lock(mutex_);
  if (place == nullptr) {
    places_.push_back(std::make_unique<Place>());
    place = places_.back().get();
    place->uri = uri;
  }
  place->machine = &machine;
  place->crashed.store(false);
}

void PlayedLibvirt::crash(const std::string& uri) { find(uri)->crashed.store(true); }

PlayedLibvirt::Place* PlayedLibvirt::find(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  for (const auto& place : places_) {
    if (place->uri == uri) return place.get();
  }
  return nullptr;
}

int PlayedLibvirt::subscribe(const Callback& callback) {
  const std::lock_guard lock(mutex_);
  callbacks_[++last_callback_] = callback;
  return last_callback_;
}

void PlayedLibvirt::unsubscribe(int number) {
  const std::lock_guard lock(mutex_);
  const auto found = callbacks_.find(number);
  REQUIRE(found != callbacks_.end());
  found->second.forget(found->second.opaque);
  callbacks_.erase(found);
}

void PlayedLibvirt::tell(Place& place, int event, const std::string& alias) {
  using OnDevice = void (*)(virConnectPtr, virDomainPtr, const char*, void*);
  const std::lock_guard lock(mutex_);
  for (const auto& [number, callback] : callbacks_) {
    if (callback.place == &place && callback.event == event)
      reinterpret_cast<OnDevice>(callback.call)(nullptr, nullptr, alias.c_str(), callback.opaque);
  }
}

LibvirtCalls PlayedLibvirt::calls() {
  LibvirtCalls calls;
  calls.initialize = initialize;
  calls.set_error_function = set_error_function;
  calls.last_error = get_last_error;
  calls.event_register = initialize;
  calls.event_run = event_run;
  calls.event_add_timeout = event_add_timeout;
  calls.open = open_connection;
  calls.close = close_connection;
  calls.set_keep_alive = set_keep_alive;
  calls.event_subscribe = subscribe_to;
  calls.event_unsubscribe = unsubscribe_from;
  set_domain_calls(calls);
  return calls;
}

}  // namespace livebtl::hypervisor
