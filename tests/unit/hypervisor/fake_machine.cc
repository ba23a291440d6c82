// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/fake_machine.cc -- see fake_machine.h.
#include "tests/unit/hypervisor/fake_machine.h"

#include <poll.h>
#include <sodium.h>
#include <sys/un.h>

#include <cstring>
#include <utility>

namespace livebtl::hypervisor {
namespace {

Json error_of(const char* kind, const std::string& text) {
  return {{"error", {{"class", kind}, {"desc", text}}}};
}

Json event_of(const char* name, Json data) { return {{"event", name}, {"data", std::move(data)}}; }

std::string base64_of(const std::string& text) {
  std::string out(sodium_base64_encoded_len(text.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(text.data()),
                    text.size(), sodium_base64_VARIANT_ORIGINAL);
  out.resize(out.size() - 1);
  return out;
}

}  // namespace

FakeMachine::FakeMachine(const std::string& directory, const std::string& name)
    : base_(directory + "/" + name) {
  listen(qmp(), &FakeMachine::serve_monitor);
  listen(agent(), &FakeMachine::serve_agent);
}

FakeMachine::~FakeMachine() {
  ending_.store(true);
  for (auto& thread : threads_) thread.join();
}

void FakeMachine::listen(const std::string& path, void (FakeMachine::*serve)(JsonLineSocket&)) {
  Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::bind(listener.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener.number(), 1) == 0);
  threads_.emplace_back([this, serve, socket = std::move(listener)] {
    while (!ending_.load()) {
      pollfd asked{socket.number(), POLLIN, 0};
      if (::poll(&asked, 1, 20) <= 0) continue;
      Fd client(::accept4(socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      JsonLineSocket lines(std::move(client), "client");
      (this->*serve)(lines);
    }
  });
}

void FakeMachine::serve_monitor(JsonLineSocket& socket) {
  const Patience patience{long_enough().deadline, &ending_};
  if (!socket.send({{"QMP", Json::object()}}, "", patience)) return;
  with([](State& state) { ++state.monitors; });
  for (;;) {
    const auto heard = socket.receive(patience.at_most(10 * kMillisecond));
    std::vector<Json> events = with([this](State&) { return std::exchange(late_events_, {}); });
    for (const Json& event : events) {
      if (!socket.send(event, "", patience)) return;
    }
    events.clear();
    if (!heard && heard.error().code == Errc::kTimeout) continue;
    if (!heard) return;
    Json answer = answer_monitor(text_member(*heard, "execute"),
                                 heard->value("arguments", Json::object()), events);
    answer["id"] = (*heard)["id"];
    if (!socket.send(answer, "", patience)) return;
    for (const Json& event : events) {
      if (!socket.send(event, "", patience)) return;
    }
  }
}

Json FakeMachine::list(const std::string& path) {
  Json names = Json::array();
  if (path == "/objects") {
    for (const auto& [id, data] : state_.objects) names.push_back({{"name", id}});
  } else {
    for (const auto& [id, arguments] : state_.cards) names.push_back({{"name", id}});
  }
  return {{"return", names}};
}

Json FakeMachine::get(const std::string& path, const std::string& property) {
  const std::string id = path.substr(path.rfind('/') + 1);
  if (path.starts_with("/objects/")) {
    const auto found = state_.objects.find(id);
    return found == state_.objects.end() ? error_of("DeviceNotFound", "no such object")
                                         : Json{{"return", found->second}};
  }
  const auto found = state_.cards.find(id);
  if (found == state_.cards.end()) return error_of("DeviceNotFound", "no such device");
  if (property == "type") return {{"return", found->second["driver"]}};
  return {{"return", "/machine/peripheral/" + found->second.value("bus", "bus0")}};
}

void FakeMachine::begin_migration(std::vector<Json>& events) {
  state_.migration = state_.migration_ends.empty() ? "active" : state_.migration_ends;
  finishes_ = state_.finishes;
  if (state_.migration == "completed") {
    state_.status = "postmigrate";
    if (state_.moves_to != nullptr)
      state_.moves_to->with([](State& there) { there.status = "paused"; });
  }
  events.push_back(event_of("MIGRATION", {{"status", state_.migration}}));
}

Json FakeMachine::unplug(const std::string& id, std::vector<Json>& events) {
  if (!state_.cards.contains(id)) return error_of("DeviceNotFound", "no such device");
  if (state_.busy > 0) {
    --state_.busy;
    return error_of("GenericError", "Hot-unplug failed: guest is busy (power indicator blinking)");
  }
  if (!state_.holds) {
    state_.cards.erase(id);
    events.push_back(event_of("DEVICE_DELETED", {{"path", "/machine/peripheral/" + id + "/part"}}));
    events.push_back(event_of("DEVICE_DELETED", {{"device", id}}));
  }
  state_.log.push_back("device_del " + id);
  return {{"return", Json::object()}};
}

void FakeMachine::give_up(const std::string& card) {
  const std::lock_guard lock(mutex_);
  state_.cards.erase(card);
  late_events_.push_back(event_of("DEVICE_DELETED", {{"device", card}}));
}

Json FakeMachine::run_state() {
  const bool finishing = finishes_ > 0;
  if (finishing) --finishes_;
  return {{"return", {{"status", finishing ? "finish-migrate" : state_.status}}}};
}

Json FakeMachine::answer_monitor(const std::string& command, const Json& arguments,
                                 std::vector<Json>& events) {
  const std::lock_guard lock(mutex_);
  const Json done = {{"return", Json::object()}};
  if (state_.refused.contains(command)) return error_of("GenericError", "told to refuse");
  if (command == "query-status") return run_state();
  if (command == "query-migrate")
    return {{"return", {{"status", state_.migration}, {"downtime", 3}}}};
  if (command == "device-list-properties") return {{"return", Json::array()}};
  if (command == "qom-list") return list(arguments["path"]);
  if (command == "qom-get") return get(arguments["path"], arguments["property"]);
  if (command == "object-add") state_.objects[arguments["id"]] = arguments["data"];
  if (command == "object-del") state_.objects.erase(arguments["id"].get<std::string>());
  if (command == "migrate") begin_migration(events);
  if (command == "migrate_cancel") state_.migration = "cancelled";
  if (command == "cont" && finishes_ > 0)
    return error_of("GenericError", "Migration is not finalized yet");
  if (command == "cont") state_.status = "running";
  const std::string id = text_member(arguments, "id");
  if (command == "device_del") return unplug(id, events);
  if (command == "device_add") state_.cards[id] = arguments;
  if (!command.starts_with("object") && !command.starts_with("migrate-set") &&
      command != "qmp_capabilities")
    state_.log.push_back(command + (id.empty() ? "" : " " + id));
  return done;
}

void FakeMachine::serve_agent(JsonLineSocket& socket) {
  const Patience patience{long_enough().deadline, &ending_};
  for (;;) {
    const auto heard = socket.receive(patience);
    if (!heard) return;
    const Json answer =
        answer_agent(text_member(*heard, "execute"), heard->value("arguments", Json::object()));
    if (!socket.send(answer, "\xff", patience)) return;
  }
}

Json FakeMachine::answer_agent(const std::string& command, const Json& arguments) {
  const std::lock_guard lock(mutex_);
  if (command == "guest-sync-delimited") return {{"return", arguments["id"]}};
  if (command == "guest-get-host-name")
    return state_.has_name ? Json{{"return", {{"host-name", "vm1"}}}}
                           : error_of("GenericError", "no name");
  if (command == "guest-exec") {
    const std::string words = arguments["arg"].dump();
    const std::string order = words.find("prepare") != std::string::npos ? "prepare" : "return";
    const bool not_yet = state_.not_yet[order] > 0;
    if (not_yet) --state_.not_yet[order];
    guest_code_ = not_yet ? 0 : state_.guest_codes[order];
    const Json absent = not_yet ? Json::array({"rank 0: verbs: no device"}) : Json::array();
    guest_output_ = Json{{"exit_code", guest_code_},
                         {"absent", absent},
                         {"text", order + " said"},
                         {"released", true},
                         {"members", guest_code_ == 2 ? 0 : 4}}
                        .dump();
    state_.log.push_back(order);
    return {{"return", {{"pid", 42}}}};
  }
  return {{"return",
           {{"exited", true}, {"exitcode", guest_code_}, {"out-data", base64_of(guest_output_)}}}};
}

}  // namespace livebtl::hypervisor
