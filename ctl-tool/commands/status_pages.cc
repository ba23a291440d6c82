// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/commands/status_pages.cc -- see status_pages.h.
#include "ctl-tool/commands/status_pages.h"

#include <algorithm>
#include <string>

#include "ctl-tool/say.h"

namespace livebtl::tool {
namespace {

using control::MemberEntry;
using control::StatusAnswer;

constexpr std::size_t kPeersMax = 65'536;  // of one process: another user's may claim any number

/// False: some are missing.
bool add_other_pages(Asker<StatusAnswer>& asker, const std::string& job, const MemberEntry& member,
                     StatusAnswer& answer) {
  auto& peers = answer.engine.peers;
  while (peers.size() < std::min<std::size_t>(answer.peers_total, kPeersMax)) {
    const control::StatusRequest request{job, true, static_cast<std::uint32_t>(peers.size())};
    const auto is_next = [&request](const StatusAnswer& page) {
      return page.peers_offset == request.peers_offset;
    };
    const auto heard = asker.ask({member}, request, is_next).answers;
    if (heard.empty() || heard.front().second.engine.peers.empty()) return false;
    const auto& page = heard.front().second.engine.peers;
    peers.insert(peers.end(), page.begin(), page.end());
  }
  return answer.peers_total <= kPeersMax;
}

}  // namespace

void add_all_pages(control::JobLinks& links, TimeNs timeout, const std::atomic<bool>& stop,
                   Asker<StatusAnswer>::Result& result) {
  Asker<StatusAnswer> asker(links, timeout, stop);
  for (auto& [member, answer] : result.answers) {
    if (add_other_pages(asker, links.job(), member, answer) || stop.load()) continue;
    complain("not all pairs of " + printable(member.name) + " are shown: there are more than " +
             std::to_string(kPeersMax) +
             ", or it did not tell of them in time; give more --timeout");
  }
}

}  // namespace livebtl::tool
