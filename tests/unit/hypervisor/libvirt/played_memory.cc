// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/libvirt/played_memory.cc -- see played_libvirt.h: migrations to another
// place, to a file or from one, and the agent in the guest.
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/unit/hypervisor/libvirt/played_calls.h"

namespace livebtl::hypervisor {
namespace {

using played::copy_of;
using played::failed;
using played::gone;
using played::place_of;
using played::said_so;
using Place = PlayedLibvirt::Place;
using State = FakeMachine::State;

/// Waits until the migration is decided, or the daemon is gone; returns how it ended.
std::string carried_out(Place& here) {
  const auto ended = [&here] {
    return here.machine->with([](State& state) { return state.migration != "active"; });
  };
  here.busy.store(true);
  here.machine->with([](State& state) {
    state.log.emplace_back("migrate");
    state.migration = state.migration_ends.empty() ? "active" : state.migration_ends;
  });
  while (!ended() && !here.crashed.load())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return here.machine->with([](State& state) {
    if (state.migration == "completed") state.status = "postmigrate";
    return state.migration;
  });
}

/// Notes the end of a thread.
struct AtThreadEnd {
  std::shared_ptr<std::atomic<bool>> over;
  ~AtThreadEnd() {
    if (over) over->store(true);
  }
};

/// As in libvirt, it ends when the guest runs there and is gone here, or with an error.
int migrate(virDomainPtr domain, const char* to, virTypedParameterPtr, unsigned, unsigned flags) {
  Place& here = place_of(domain);
  CHECK((flags & VIR_MIGRATE_PEER2PEER) != 0);
  Place* const there = PlayedLibvirt::current().find(to);
  if (there == nullptr) return failed(VIR_ERR_NO_CONNECT, "no such daemon", VIR_FROM_RPC);
  if (here.machine->with([](State& state) { return state.refused.contains("migrate"); }))
    return said_so("told to refuse");
  thread_local AtThreadEnd at_end;
  at_end.over = here.migrate_over = std::make_shared<std::atomic<bool>>(false);
  const std::string end = carried_out(here);
  const auto notes = here.machine->with([](State& state) { return state.objects; });
  if (end == "completed")
    there->machine->with([&notes](State& state) {
      state.status = "running";
      state.objects = notes;
    });
  here.busy.store(false);
  if (gone(here)) return -1;
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

}  // namespace

void played::set_memory_calls(LibvirtCalls& calls) {
  calls.migrate = migrate;
  calls.create_snapshot = create_snapshot;
  calls.free_snapshot = free_snapshot;
  calls.restore = restore;
  calls.agent_command = agent_command;
}

}  // namespace livebtl::hypervisor
