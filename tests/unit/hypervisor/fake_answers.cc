// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/fake_answers.cc -- what the machine of fake_machine.h answers and does,
// like QEMU 7.2 and its guest's agent.
#include <sodium.h>

#include <algorithm>
#include <array>

#include "tests/unit/hypervisor/fake_machine.h"

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

/// Returns "prepare", "return", "hold start", "job restored", ...
std::string order_of(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "checkpoint") return words[i + 1];
    if (words[i] == "hold" || words[i] == "job") return words[i] + " " + words[i + 1];
  }
  return "?";
}

}  // namespace

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

Json FakeMachine::migration() const {
  Json figures = {{"status", state_.migration}};
  if (!state_.incoming) figures["downtime"] = 3;
  if (!state_.incoming && state_.migration != "none") figures["total-time"] = 5;
  return {{"return", figures}};
}

/// A migration to a file, or from one.
Json FakeMachine::of_a_file(const std::string& command, std::vector<Json>& events) {
  if (!descriptor_) return error_of("GenericError", "File descriptor named 'livebtl' not found");
  const Fd file = std::move(descriptor_);
  state_.log.push_back(command);
  state_.incoming = command == "migrate-incoming";
  if (!state_.incoming) {
    CHECK(state_.status == "paused");
    CHECK(::write(file.number(), state_.memory.data(), state_.memory.size()) > 0);
    begin_migration(events);
    return {{"return", Json::object()}};
  }
  std::array<char, 256> block{};
  const auto got = ::read(file.number(), block.data(), block.size());
  state_.memory.assign(block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  state_.migration = state_.migration_ends;
  state_.status = "paused";
  return {{"return", Json::object()}};
}

/// Answers commands that change nothing; null: it is not one of them.
Json FakeMachine::ask(const std::string& command) {
  if (command == "query-status") return run_state();
  if (command == "query-migrate") return migration();
  if (command == "device-list-properties") return {{"return", Json::array()}};
  if (command == "query-migrate-parameters")
    return {{"return", {{"max-bandwidth", state_.bandwidth}}}};
  if (command == "x-query-ramblock") {
    const bool there = state_.lingers > 0 && state_.lingers-- > 0;
    const std::string block = there ? "  0000:05.0/memory0    4 KiB  0x20300000\n" : "";
    return {{"return", {{"human-readable-text", "  pc.ram    4 KiB  0x0\n" + block}}}};
  }
  if (command != "query-block") return {};
  const Json fixed = {{"device", "root"}, {"inserted", {{"ro", true}}}};
  const Json disk = {{"device", "disk0"}, {"inserted", {{"ro", !state_.writable_disk}}}};
  return {{"return", Json::array({{{"device", "floppy"}}, fixed, disk})}};
}

Json FakeMachine::unplug(const std::string& id, std::vector<Json>& events) {
  if (!state_.cards.contains(id)) return error_of("DeviceNotFound", "no such device");
  if (state_.fixed.contains(id))
    return error_of("GenericError", "Bus 'pcie.0' does not support hotplugging");
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
  if (Json answer = ask(command); !answer.is_null()) return answer;
  if (command == "getfd")
    return descriptor_ ? done : error_of("GenericError", "No file descriptor supplied");
  if (command == "migrate-set-parameters") state_.bandwidth = arguments["max-bandwidth"];
  const bool of_file = text_member(arguments, "uri").starts_with("fd:");
  if (of_file) return of_a_file(command, events);
  if (command == "stop") state_.status = "paused";
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

Json FakeMachine::start_program(const Json& arguments) {
  if (arguments["path"] == "/bin/sh") {
    guest_code_ = 0;
    guest_output_ = state_.holders;
    return {{"return", {{"pid", 41}}}};
  }
  const std::string order = order_of(arguments["arg"]);
  if (state_.status != "running") return error_of("GenericError", "no answer");
  if (order == state_.garbles) return {{"return", {{"pid", "none"}}}};
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

Json FakeMachine::answer_agent(const std::string& command, const Json& arguments) {
  const std::lock_guard lock(mutex_);
  if (command == "guest-sync-delimited") return {{"return", arguments["id"]}};
  if (command == "guest-get-host-name")
    return state_.has_name ? Json{{"return", {{"host-name", "vm1"}}}}
                           : error_of("GenericError", "no name");
  if (command == "guest-exec") return start_program(arguments);
  return {{"return",
           {{"exited", true}, {"exitcode", guest_code_}, {"out-data", base64_of(guest_output_)}}}};
}

}  // namespace livebtl::hypervisor
