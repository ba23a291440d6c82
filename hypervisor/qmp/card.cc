// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/card.cc -- see card.h.
#include "hypervisor/qmp/card.h"

#include <array>
#include <cstdio>
#include <optional>

#include "hypervisor/qmp/note.h"

namespace livebtl::hypervisor {
namespace {

constexpr const char* kDevices = "/machine/peripheral";
constexpr const char* kNoHostDevice = "ffff:ff:ff.f";
constexpr TimeNs kUntilAskedAgain = 500 * kMillisecond;

std::string memory_id(const std::string& id) { return "livebtl-" + id; }

Result<Json> get(Qmp& qmp, const std::string& path, const std::string& property,
                 const Deadline& deadline) {
  return qmp.execute("qom-get", {{"path", path}, {"property", property}}, deadline);
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// device_add takes "03.0" for what QEMU shows as 24.
std::string slot_text(std::uint64_t function) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%02x.%x", static_cast<unsigned>(function >> 3U) & 0x1fU,
                static_cast<unsigned>(function) & 7U);
  return text.data();
}

/// A property as device_add takes it; nullopt if device_add does not take it, or need not be told.
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
  // QEMU shows this for a card that was named by another property, but does not accept it.
  if (text == kNoHostDevice) return std::nullopt;
  // An empty romfile means that there is none, which is not the default.
  return text.empty() && text_member(property, "name") != "romfile" ? std::nullopt
                                                                    : std::optional(value);
}

bool worth_asking(const Json& property) {
  const std::string name = text_member(property, "name");
  // Experimental properties are seldom set, and some show what the device derived from others. A
  // PCI device shows its bus number (QEMU 10), which device_add refuses.
  return !name.empty() && !name.starts_with("x-") && name != "busnr" &&
         !text_member(property, "type").starts_with("child<");
}

Result<Json> ask_arguments(Qmp& qmp, const std::string& id, const Deadline& deadline) {
  const std::string path = std::string(kDevices) + "/" + id;
  const auto driver = get(qmp, path, "type", deadline);
  if (!driver) return tl::unexpected(driver.error());
  const auto properties = qmp.execute("device-list-properties", {{"typename", *driver}}, deadline);
  if (!properties) return tl::unexpected(properties.error());
  const auto bus = get(qmp, path, "parent_bus", deadline);
  if (!bus) return tl::unexpected(bus.error());
  if (!driver->is_string() || !bus->is_string() || !properties->is_array())
    return fail(Errc::kCorrupt, "QEMU does not say how " + id + " is plugged in; give --card-args");
  Json arguments = {{"driver", *driver}, {"id", id}, {"bus", last_part(bus->get<std::string>())}};
  for (const Json& property : *properties) {
    if (!worth_asking(property)) continue;
    const std::string name = text_member(property, "name");
    const auto value = get(qmp, path, name, deadline);
    if (!value && !said_no(value.error())) return tl::unexpected(value.error());
    if (!value) continue;  // it can be set but not read
    if (auto argument = as_argument(property, *value)) arguments[name] = std::move(*argument);
  }
  return arguments;
}

/// kTimeout: the card is still there.
Status wait_until_gone(Qmp& qmp, const std::string& id, const Deadline& deadline) {
  QmpEvent event;
  while (!qmp.take_event("DEVICE_DELETED", id, event)) {
    if (qmp.take_event("DEVICE_UNPLUG_GUEST_ERROR", id, event))
      return fail(Errc::kRefused, "the guest refuses to give up " + id);
    if (auto heard = qmp.listen(deadline); !heard) return heard;
  }
  return {};
}

/// What an earlier call noted; null if nothing.
Result<Json> remembered(Qmp& qmp, const std::string& id, const Deadline& deadline) {
  const auto text = read_note(qmp, memory_id(id), deadline);
  if (!text) return tl::unexpected(text.error());
  auto arguments = read_card_arguments(*text);
  return arguments && text_member(*arguments, "id") == id ? std::move(*arguments) : Json();
}

}  // namespace

Result<bool> is_plugged(Qmp& qmp, const std::string& id, const Deadline& deadline) {
  return is_listed(qmp, kDevices, id, deadline);
}

Result<Card> find_card(Qmp& qmp, const std::string& id, const Json& given,
                       const Deadline& deadline) {
  const auto present = is_plugged(qmp, id, deadline);
  if (!present) return tl::unexpected(present.error());
  Card card{id, *present, given};
  if (!given.is_null()) return card;
  auto arguments = card.present ? ask_arguments(qmp, id, deadline) : remembered(qmp, id, deadline);
  if (!arguments) return tl::unexpected(arguments.error());
  card.arguments = std::move(*arguments);
  return card;
}

Result<Card> find_known_card(Qmp& qmp, const std::string& id, const Json& given, const char* hint,
                             const Deadline& deadline) {
  auto card = find_card(qmp, id, given, deadline);
  if (!card || card->present || !card->arguments.is_null()) return card;
  return fail(Errc::kNotFound,
              "QEMU has no device '" + id +
                  "', nor was it pulled by an earlier call; info qtree shows what it has" + hint);
}

Result<bool> was_pulled(Qmp& qmp, const std::string& id, const Deadline& deadline) {
  return remembered(qmp, id, deadline).map([](const Json& note) { return !note.is_null(); });
}

Status forget_card(Qmp& qmp, const std::string& id, const Deadline& deadline) {
  return delete_object(qmp, memory_id(id), deadline);
}

std::string plug_text(const Card& card) {
  return "device_add " + card.arguments.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string plug_again_text(const Card& card) {
  return (shared_memory_of(card).empty() ? "" : "by hand: its memory anew, then ") +
         plug_text(card);
}

Status plug_card(Qmp& qmp, const Card& card, const Deadline& deadline) {
  const auto present = is_plugged(qmp, card.id, deadline);
  if (!present) return tl::unexpected(present.error());
  if (*present) return {};
  if (card.arguments.is_null())
    return fail(Errc::kInvalid, "how to plug " + card.id + " in is not known; give --card-args");
  return qmp.tell("device_add", card.arguments, deadline);
}

Status plug_card_again(Qmp& qmp, const Card& card, const Deadline& deadline) {
  const auto present = is_plugged(qmp, card.id, deadline);
  if (!present) return tl::unexpected(present.error());
  if (*present) return {};
  if (const std::string memory = shared_memory_of(card); !memory.empty())
    return fail(
        Errc::kRefused,
        "QEMU might crash if the device got its memory a second time; do it by hand: object-del " +
            memory + " if it is there, object-add it anew, then device_add");
  return plug_card(qmp, card, deadline);
}

Status unplug_card(Qmp& qmp, const Card& card, const Deadline& deadline) {
  for (;;) {
    const auto asked = qmp.execute("device_del", {{"id", card.id}}, deadline);
    if (!asked && asked.error().code == Errc::kNotFound) return {};
    const auto says = [&asked](const char* words) {
      return !asked && asked.error().text.find(words) != std::string::npos;
    };
    // A second press of the slot's button would cancel the first, so QEMU refuses a second request
    // while the first is pending. A guest that is busy may be working on the first, or may still be
    // taking in what was just plugged in: then nothing has been requested.
    const bool busy = says("guest is busy");
    if (!asked && !busy && !says("in the process of unplug")) return tl::unexpected(asked.error());
    auto gone = wait_until_gone(qmp, card.id, busy ? deadline.at_most(kUntilAskedAgain) : deadline);
    if (gone || gone.error().code != Errc::kTimeout) return gone;
    if (busy && monotonic_now() < deadline.at) continue;
    return fail(Errc::kTimeout,
                "the guest has not given up " + card.id +
                    " in time; see in it what holds the device: btlctl status, ls -l /proc/*/fd; "
                    "QEMU's request stays open, so plug it in by hand if it goes later");
  }
}

Status pull_card(Qmp& qmp, const Card& card, const Deadline& deadline) {
  auto kept = keep_note(qmp, memory_id(card.id), card.arguments.dump(), deadline);
  if (!kept) return kept;
  auto gone = unplug_card(qmp, card, deadline);
  if (!gone && gone.error().code == Errc::kRefused) (void)forget_card(qmp, card.id, deadline);
  return gone;
}

}  // namespace livebtl::hypervisor
