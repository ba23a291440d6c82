// SPDX-License-Identifier: BSD-3-Clause
// What lies in a job's directory or precedes a message: a member's file, an envelope's address and
// its return route. The first byte selects one; what is accepted must survive the round trip.
#include "base/crc32c.h"
#include "control/place/member_file.h"
#include "control/wire/route.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;
using namespace livebtl::control;

/// Corrects the checksum, so that the fuzzer gets past it.
std::string sealed(std::string body) {
  constexpr std::size_t kBodyBytes = 4096 - 9;
  body.resize(kBodyBytes, ' ');
  char crc[10];
  std::snprintf(crc, sizeof crc, "%08x\n", crc32c(as_bytes(body)));
  return body + crc;
}

bool card(std::string_view text) {
  const auto parsed = parse_card(sealed(std::string(text)));
  if (!parsed) return false;
  fuzz::must_hold(parsed->member.process != ProcessId{} && parsed->mark.pid > 0,
                  "a card names a process");
  const auto again = parse_card(format_card(*parsed));
  fuzz::must_hold(again && again->member == parsed->member && again->rank == parsed->rank &&
                      again->mark == parsed->mark && again->run == parsed->run,
                  "a card survives the round trip");
  return true;
}

bool route(std::string_view text) {
  const auto parsed = parse_route(text);
  if (!parsed) return false;
  const auto again = parse_route(format_route(*parsed));
  fuzz::must_hold(again && *again == *parsed, "a route survives the round trip");
  fuzz::must_hold(parsed->relay.size() <= 256, "a relay is short");
  return true;
}

bool way_back(std::string_view text) {
  const auto popped = pop_return(text);
  if (!popped) return false;
  const auto pushed = push_return(*popped);
  fuzz::must_hold(!pushed || *pushed == text, "a way back survives the round trip");
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const char kind = static_cast<char>(data[0]);
  fuzz::Reached::note(kind == 'c' ? card(text) : kind == 'r' ? route(text) : way_back(text));
  return 0;
}
