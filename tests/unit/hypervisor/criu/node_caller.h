// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/criu/node_caller.h -- plays btlctl checkpoint run and restore: gives one
// node's btlctl its orders, and records its answers. One thread.
#pragma once

#include <deque>

#include "hypervisor/criu/node_side.h"
#include "hypervisor/criu/node_words.h"
#include "tests/unit/hypervisor/criu/played_programs.h"

namespace livebtl::hypervisor {

/// Says these lines, then is gone.
struct Caller {
  std::deque<std::string> lines;
  std::vector<NodeAnswer> answers = {};
  std::vector<TimeNs> waits = {};

  int call(const CriuRequest& tools) {
    return serve_node(tools, {[this](TimeNs within) -> std::optional<std::string> {
                                waits.push_back(within);
                                if (lines.empty()) return std::nullopt;
                                std::string line = lines.front();
                                lines.pop_front();
                                return line;
                              },
                              [this](const std::string& line) {
                                auto answer = read_node_answer(line);
                                REQUIRE(answer);
                                answers.push_back(std::move(*answer));
                              }});
  }
};

inline NodeOrder dump_order(const Stage& stage) {
  NodeOrder order;
  order.directory = stage.path("set");
  order.node = "vm1";
  order.job = "a-job";
  order.hold = "0x1";
  order.lease_left_s = 600;
  order.timeout_s = 600;
  return order;
}

inline NodeOrder restore_order(const Stage& stage, const NodeAnswer& dumped) {
  NodeOrder order = dump_order(stage);
  order.dumps = false;
  order.file = dumped.file;
  order.file.name = "vm1";
  return order;
}

inline NodeAnswer dump(Stage& stage) {
  Caller caller{{order_line(dump_order(stage)), kGo}};
  REQUIRE(caller.call(stage.request()) == 0);
  stage.end_job();
  stage.calls();
  return caller.answers.front();
}

}  // namespace livebtl::hypervisor
