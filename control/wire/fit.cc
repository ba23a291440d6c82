// SPDX-License-Identifier: BSD-3-Clause
// control/wire/fit.cc -- the functions of messages.h that cut or split what is too long for one
// message. Pure; any thread.
#include <algorithm>
#include <utility>

#include "control/wire/messages.h"

namespace livebtl::control {

PageAnswer fit_page(PageAnswer answer) {
  while (!answer.page.pairs.empty() && !encode(answer))
    answer.page.pairs.resize(answer.page.pairs.size() / 2);
  return answer;
}

MembersAnswer fit_page(MembersAnswer answer) {
  constexpr std::size_t kRelaysBeforeMembers = 64;  // at most a quarter of a message
  std::vector<std::string>& relays = answer.relays;
  std::vector<MemberEntry>& members = answer.members;
  if (relays.size() > kGroupMax) relays.resize(kGroupMax);
  while (!encode(answer)) {
    if (relays.size() > kRelaysBeforeMembers) {
      relays.resize(relays.size() * 3 / 4);
    } else if (members.size() > 1) {
      members.resize(members.size() / 2);
    } else if (!relays.empty()) {
      relays.resize(relays.size() / 2);
    } else {
      break;
    }
  }
  return answer;
}

void turn_by(std::vector<std::string>& list, std::size_t times) {
  if (list.empty()) return;
  // In steps of the golden section, so that parts of any length leave no large gap for long.
  const std::size_t first =
      times * (list.size() * 618 / 1000 + (list.size() == 2 ? 0 : 1)) % list.size();
  std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(first), list.end());
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
