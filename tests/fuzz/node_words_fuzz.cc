// SPDX-License-Identifier: BSD-3-Clause
// What `btlctl checkpoint` and the btlctl on each node of a job say to each other, and the kernel's
// table of TCP connections. What is accepted must be bounded, name only a file in its directory,
// and survive the round trip.
#include <algorithm>

#include "hypervisor/criu/node_words.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;
using namespace livebtl::hypervisor;

bool order(std::string_view line) {
  const auto order = read_node_order(line);
  if (!order) return false;
  fuzz::must_hold(order->directory.starts_with('/'), "a directory is absolute");
  fuzz::must_hold(order->node.find('/') == std::string::npos && !order->node.starts_with('.'),
                  "a file is in its own directory");
  fuzz::must_hold(order->timeout_s >= 0 && order->lease_left_s >= 0, "no time is negative");
  fuzz::must_hold(check_new_addresses(order->addresses).has_value(),
                  "an address becomes one other");
  const std::string again = order_line(*order);
  fuzz::must_hold(std::ranges::count(again, '\n') == 0, "an order is one line");
  const auto read = read_node_order(again);
  fuzz::must_hold(!read || order_line(*read) == again, "an order survives the round trip");
  return true;
}

bool answer(std::string_view line) {
  const auto answer = read_node_answer(line);
  if (!answer) {
    fuzz::must_hold(!answer.error().text.empty(), "a refusal says why");
    return false;
  }
  fuzz::must_hold(answer->text.find('\n') == std::string::npos, "what is shown is one line");
  static_cast<void>(half_connection(answer->connections));
  const auto read = read_node_answer(answer_line(*answer));
  fuzz::must_hold(!read || read->connections.size() == answer->connections.size(),
                  "an answer survives the round trip");
  return true;
}

bool table(std::string_view text) {
  const auto connections = read_tcp_table(text);
  for (const TcpConnection& each : connections)
    fuzz::must_hold(!each.local.empty() && !each.remote.empty(), "a connection has two ends");
  return !connections.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool known = order(text) || answer(text) || table(text);
  fuzz::Reached::note(known);
  return 0;
}
