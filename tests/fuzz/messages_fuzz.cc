// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a control message: what is accepted must come out of encode() as a message that is
// accepted again and says the same; a refusal must say why. Another parser must accept it, too: where
// two readers differ, one of them follows what the other did not see.
#include <string_view>

#include "base/json.h"
#include "control/wire/messages.h"
#include "tests/fuzz/reached.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace livebtl;
  using namespace livebtl::control;
  const std::string_view given{reinterpret_cast<const char*>(data), size};
  const auto message = decode(given);
  fuzz::Reached::note(message.has_value());
  if (!message) {
    fuzz::must_hold(!message.error().text.empty(), "a refusal says why");
    fuzz::must_hold(message.error().text.size() < 1024, "a refusal is short");
    return 0;
  }
  fuzz::must_hold(parse_json(given, kMessageDepthMax).has_value(), "both parsers take it");
  // Numbers and escapes can grow when encoded: a message near the limit may no longer fit.
  const auto text = encode(*message);
  if (!text) {
    fuzz::must_hold(text.error().code == Errc::kLimit, "only length keeps a message from encoding");
    return 0;
  }
  const auto again = decode(*text);
  fuzz::must_hold(again.has_value(), "what was encoded is accepted");
  fuzz::must_hold(again->index() == message->index(), "it is the same kind of message");
  const auto text_again = encode(*again);
  fuzz::must_hold(text_again && *text_again == *text, "it says the same");
  return 0;
}
