// SPDX-License-Identifier: BSD-3-Clause
// control/wire/messages.cc -- schema and limits of the JSON messages; their fields are in fields.h,
// the checks of what was read in checks.h.
#include "control/wire/messages.h"

#include <array>
#include <utility>

#include "base/exit_code.h"
#include "control/wire/checks.h"
#include "control/wire/fields.h"
#include "control/wire/json_reader.h"

namespace livebtl::control {
namespace {

/// By position in Message.
constexpr std::array<const char*, std::variant_size_v<Message>> kSchemas = {
    "livebtl.standing-request/1",
    "livebtl.promise-request/1",
    "livebtl.order/1",
    "livebtl.ladder-end/1",
    "livebtl.standing/1",
    "livebtl.plan-request/1",
    "livebtl.plan/1",
    "livebtl.members-request/1",
    "livebtl.members/1",
    "livebtl.status-request/1",
    "livebtl.status/1",
    "livebtl.list-request/1",
    "livebtl.list/1",
    "livebtl.watch-request/1",
    "livebtl.watch-event/1",
    "livebtl.secret-request/1",
    "livebtl.secret/1",
    "livebtl.addresses-request/2",
    "livebtl.addresses/2",
    "livebtl.hold-request/1",
    "livebtl.hold/1",
    "livebtl.error/1",
    "livebtl.page-request/1",
    "livebtl.page/1",
    "livebtl.node-request/1",
    "livebtl.node-standing/1"};

// -- parsing

template <std::size_t index = 0>
Result<Message> decode_as(std::size_t wanted, const JsonValue& json) {
  if constexpr (index == std::variant_size_v<Message>) {
    return fail(Errc::kUnsupported, "no such message");
  } else {
    if (wanted != index) return decode_as<index + 1>(wanted, json);
    std::variant_alternative_t<index, Message> value;
    std::string error;
    JsonReader reader(json, nullptr, error);
    fields(reader, value);
    Message message(std::in_place_index<index>, std::move(value));
    if (error.empty()) error = check_message(message);
    if (!error.empty()) {
      return fail(Errc::kInvalid,
                  std::string("malformed ") + kSchemas[index] + ": " + error.substr(0, 256));
    }
    return message;
  }
}

}  // namespace

Result<std::string> encode(const Message& message) {
  JsonWriter writer;
  writer("schema", kSchemas[message.index()]);
  std::visit([&](const auto& value) { fields(writer, value); }, message);
  std::string text = writer.take();
  if (text.size() > kMessageBytesMax) {
    return fail(Errc::kLimit, std::string(kSchemas[message.index()]) + " would be " +
                                  std::to_string(text.size()) + " bytes long; 65536 is the limit");
  }
  return text;
}

Result<Message> decode(std::string_view text) {
  if (text.size() > kMessageBytesMax) {
    return fail(Errc::kLimit,
                "message of " + std::to_string(text.size()) + " bytes refused; 65536 is the limit");
  }
  JsonText parsed(text);
  const Result<const JsonValue*> json = parsed.parse(kMessageDepthMax);
  if (!json && json.error().code == Errc::kLimit)
    return fail(Errc::kLimit, "message nested more than 16 deep refused");
  if (!json) return fail(Errc::kInvalid, "not a JSON object");
  const auto schema = (*json)->FindMember("schema");
  if (schema == (*json)->MemberEnd() || !schema->value.IsString())
    return fail(Errc::kInvalid, "'schema' is missing");
  const std::string_view name = text_of(schema->value);
  const auto found = std::find(kSchemas.begin(), kSchemas.end(), name);
  if (found == kSchemas.end()) {
    return fail(Errc::kUnsupported, "schema '" + std::string(name.substr(0, 64)) +
                                        "' is not one that this version of livebtl speaks");
  }
  return decode_as(static_cast<std::size_t>(found - kSchemas.begin()), **json);
}

std::string outcome_json(const Outcome& outcome) {
  JsonWriter writer;
  writer("schema", "livebtl.outcome/1");
  writer("exit_code", static_cast<int>(outcome.code));
  writer("reason", reason_of(outcome.code));
  fields(writer, outcome);
  return writer.take();
}

}  // namespace livebtl::control
