// SPDX-License-Identifier: BSD-3-Clause
// control/wire/fit.cc -- of messages.h: what is cut, or sent in parts, so that it fits into a message. Pure; any thread.
#include <utility>

#include "control/wire/messages.h"

namespace livebtl::control {

PageAnswer fit_page(PageAnswer answer) {
  while (!answer.page.pairs.empty() && !encode(answer))
    answer.page.pairs.resize(answer.page.pairs.size() / 2);
  return answer;
}

std::vector<std::string> encode_parts(NodeStanding answer) {
  std::vector<std::string> texts;
  std::vector<NodeStanding> parts;
  for (parts.push_back(std::move(answer)); !parts.empty();) {
    if (auto text = encode(parts.back())) {
      texts.push_back(std::move(*text));
      parts.pop_back();
      continue;
    }
    NodeStanding other;
    if (halve(parts.back(), other)) {
      parts.push_back(std::move(other));
    } else {
      parts.pop_back();
    }
  }
  return texts;
}

StatusAnswer fit_page(StatusAnswer answer) {
  while (!answer.engine.peers.empty() && !encode(answer)) {
    answer.engine.peers.resize(answer.engine.peers.size() / 2);
  }
  return answer;
}

}  // namespace livebtl::control
