// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/card.cc -- see card.h.
#include "hypervisor/card.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "hypervisor/note.h"

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kIdBytesMax = 100;
constexpr const char* kDevices = "/machine/peripheral";
constexpr const char* kNoHostDevice = "ffff:ff:ff.f";
constexpr TimeNs kUntilAskedAgain = 500 * kMillisecond;

std::string memory_id(const std::string& id) { return "livebtl-" + id; }

Result<Json> get(Qmp& qmp, const std::string& path, const std::string& property,
                 const Patience& patience) {
  return qmp.execute("qom-get", {{"path", path}, {"property", property}}, patience);
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// QEMU reads "3.0" for what it shows as 24.
std::string slot_text(std::uint64_t function) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%02x.%x", static_cast<unsigned>(function >> 3U) & 0x1fU,
                static_cast<unsigned>(function) & 7U);
  return text.data();
}

/// How device_add takes what QEMU shows; nullopt: not at all, or it need not.
std::optional<Json> as_argument(const Json& property, const Json& value) {
  const std::string type = text_member(property, "type");
  const auto usual = property.find("default-value");
  if (usual != property.end() && *usual == value) return std::nullopt;
  if (text_member(property, "name") == "addr")
    return value.is_number_unsigned() ? std::optional<Json>(slot_text(value.get<std::uint64_t>()))
                                      : std::nullopt;
  if (!value.is_string())
    return value.is_primitive() && !value.is_null() ? std::optional(value) : std::nullopt;
  const auto text = value.get<std::string>();
  if (type.starts_with("link<"))
    return text.empty() ? std::nullopt : std::optional<Json>(last_part(text));
  // What QEMU shows of a card that was named by another property, and does not take.
  if (text == kNoHostDevice) return std::nullopt;
  // An empty name of a ROM's file means: none.
  return text.empty() && text_member(property, "name") != "romfile" ? std::nullopt
                                                                    : std::optional(value);
}

bool worth_asking(const Json& property) {
  const std::string name = text_member(property, "name");
  // Experimental properties are seldom set, and some show what the device made of others.
  return !name.empty() && !name.starts_with("x-") &&
         !text_member(property, "type").starts_with("child<");
}

Result<Json> ask_arguments(Qmp& qmp, const std::string& id, const Patience& patience) {
  const std::string path = std::string(kDevices) + "/" + id;
  const auto driver = get(qmp, path, "type", patience);
  if (!driver) return tl::unexpected(driver.error());
  const auto properties = qmp.execute("device-list-properties", {{"typename", *driver}}, patience);
  if (!properties) return tl::unexpected(properties.error());
  const auto bus = get(qmp, path, "parent_bus", patience);
  if (!bus) return tl::unexpected(bus.error());
  if (!driver->is_string() || !bus->is_string() || !properties->is_array())
    return fail(Errc::kCorrupt, "QEMU does not say how " + id + " is plugged in; give --card-args");
  Json arguments = {{"driver", *driver}, {"id", id}, {"bus", last_part(bus->get<std::string>())}};
  for (const Json& property : *properties) {
    if (!worth_asking(property)) continue;
    const std::string name = text_member(property, "name");
    const auto value = get(qmp, path, name, patience);
    if (!value && !said_no(value.error())) return tl::unexpected(value.error());
    if (!value) continue;  // it can be set, and not be looked at
    if (auto argument = as_argument(property, *value)) arguments[name] = std::move(*argument);
  }
  return arguments;
}

/// kTimeout: it is still there.
Status wait_until_gone(Qmp& qmp, const std::string& id, const Patience& patience) {
  QmpEvent event;
  while (!qmp.take_event("DEVICE_DELETED", id, event)) {
    if (qmp.take_event("DEVICE_UNPLUG_GUEST_ERROR", id, event))
      return fail(Errc::kRefused, "the guest refuses to give up " + id);
    if (auto heard = qmp.listen(patience); !heard) return heard;
  }
  return {};
}

/// What an earlier call has left; null: nothing.
Result<Json> remembered(Qmp& qmp, const std::string& id, const Patience& patience) {
  const auto text = read_note(qmp, memory_id(id), patience);
  if (!text) return tl::unexpected(text.error());
  auto arguments = read_card_arguments(*text);
  return arguments && text_member(*arguments, "id") == id ? std::move(*arguments) : Json();
}

}  // namespace

bool well_formed_id(const std::string& id) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !id.empty() && id.size() <= kIdBytesMax && letter(id.front()) &&
         std::all_of(id.begin(), id.end(), [&letter](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
         });
}

Result<Json> read_card_arguments(const std::string& text) {
  Json arguments = Json::parse(text, nullptr, false);
  if (!arguments.is_object() || text_member(arguments, "driver").empty() ||
      !well_formed_id(text_member(arguments, "id"))) {
    return fail(
        Errc::kInvalid,
        "not what device_add takes: one JSON object with driver and id, "
        "such as "
        "{\"driver\":\"vfio-pci\",\"id\":\"hca\",\"bus\":\"port1\",\"host\":\"0000:3b:00.2\"}");
  }
  for (const auto& [name, value] : arguments.items()) {
    if (!value.is_primitive() || value.is_null())
      return fail(Errc::kInvalid, "--card-args: '" + one_line(name) + "' is no plain value");
  }
  return arguments;
}

Result<bool> is_plugged(Qmp& qmp, const std::string& id, const Patience& patience) {
  return is_listed(qmp, kDevices, id, patience);
}

Result<Card> find_card(Qmp& qmp, const std::string& id, const Json& given,
                       const Patience& patience) {
  const auto present = is_plugged(qmp, id, patience);
  if (!present) return tl::unexpected(present.error());
  Card card{id, *present, given};
  if (!given.is_null()) return card;
  auto arguments = card.present ? ask_arguments(qmp, id, patience) : remembered(qmp, id, patience);
  if (!arguments) return tl::unexpected(arguments.error());
  card.arguments = std::move(*arguments);
  return card;
}

Result<bool> was_pulled(Qmp& qmp, const std::string& id, const Patience& patience) {
  const auto arguments = remembered(qmp, id, patience);
  if (!arguments) return tl::unexpected(arguments.error());
  return !arguments->is_null();
}

Status remember_card(Qmp& qmp, const Card& card, const Patience& patience) {
  return keep_note(qmp, memory_id(card.id), card.arguments.dump(), patience);
}

Status forget_card(Qmp& qmp, const std::string& id, const Patience& patience) {
  return delete_object(qmp, memory_id(id), patience);
}

std::string plug_text(const Card& card) {
  return "device_add " + card.arguments.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string plug_again_text(const Card& card) {
  return (shared_memory_of(card).empty() ? "" : "by hand: its memory anew, then ") +
         plug_text(card);
}

Status plug_card(Qmp& qmp, const Card& card, const Patience& patience) {
  const auto present = is_plugged(qmp, card.id, patience);
  if (!present) return tl::unexpected(present.error());
  if (*present) return {};
  if (card.arguments.is_null())
    return fail(Errc::kInvalid, "how to plug " + card.id + " in is not known; give --card-args");
  const auto added = qmp.execute("device_add", card.arguments, patience);
  if (!added) return tl::unexpected(added.error());
  return {};
}

Status plug_card_again(Qmp& qmp, const Card& card, const Patience& patience) {
  const auto present = is_plugged(qmp, card.id, patience);
  if (!present) return tl::unexpected(present.error());
  if (*present) return {};
  if (const std::string memory = shared_memory_of(card); !memory.empty())
    return fail(Errc::kRefused,
                "QEMU might end if it got its memory a second time; by hand: object-del of " +
                    memory + " if it is there, object-add of it anew, then device_add");
  return plug_card(qmp, card, patience);
}

Status unplug_card(Qmp& qmp, const Card& card, const Patience& patience) {
  for (;;) {
    const auto asked = qmp.execute("device_del", {{"id", card.id}}, patience);
    if (!asked && asked.error().code == Errc::kNotFound) return {};
    const auto says = [&asked](const char* words) {
      return !asked && asked.error().text.find(words) != std::string::npos;
    };
    // A second request may mean the opposite of the first, so QEMU refuses it while the first is
    // open. A guest that is busy may be at work on the first, or still take in what was just
    // plugged in: then nothing has been asked for.
    const bool busy = says("guest is busy");
    if (!asked && !busy && !says("in the process of unplug")) return tl::unexpected(asked.error());
    auto gone = wait_until_gone(qmp, card.id, busy ? patience.at_most(kUntilAskedAgain) : patience);
    if (gone || gone.error().code != Errc::kTimeout) return gone;
    if (busy && monotonic_now() < patience.deadline) continue;
    return fail(Errc::kTimeout,
                "the guest has not given up " + card.id +
                    " in time; see in it who holds the device: btlctl status, ls -l /proc/*/fd; "
                    "QEMU's request stays open, so plug it in by hand if it goes later");
  }
}

Status pull_card(Qmp& qmp, const Card& card, const Patience& patience) {
  if (auto kept = remember_card(qmp, card, patience); !kept) return kept;
  auto gone = unplug_card(qmp, card, patience);
  if (!gone && gone.error().code == Errc::kRefused) (void)forget_card(qmp, card.id, patience);
  return gone;
}

}  // namespace livebtl::hypervisor
