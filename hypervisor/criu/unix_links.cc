// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/unix_links.cc -- see unix_links.h.
#include "hypervisor/criu/unix_links.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "base/fd.h"
#include "hypervisor/criu/process_tree.h"
#include "hypervisor/vm/untrusted.h"

namespace livebtl::hypervisor {
namespace {

constexpr TimeNs kWaitMost = 10 * kSecond;
constexpr TimeNs kLookEvery = 20 * kMillisecond;
constexpr std::size_t kAnswerBytes = 32u << 10;

struct Question {
  nlmsghdr head{};
  unix_diag_req body{};
};

/// Sockets by inode, each with the inode of the one that it is connected to.
using Links = std::map<std::uint64_t, std::uint64_t>;

Fd ask_kernel() {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!socket) return socket;
  const timeval patience{2, 0};
  ::setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  Question question;
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.body.sdiag_family = AF_UNIX;
  question.body.udiag_states = ~0u;
  question.body.udiag_show = UDIAG_SHOW_PEER;
  const auto sent = ::send(socket.number(), &question, sizeof question, 0);
  return sent == static_cast<ssize_t>(sizeof question) ? std::move(socket) : Fd();
}

void add_link(nlmsghdr* message, Links& links) {
  const auto* const body = static_cast<const unix_diag_msg*>(NLMSG_DATA(message));
  auto left = static_cast<int>(message->nlmsg_len - NLMSG_LENGTH(sizeof *body));
  auto* each = reinterpret_cast<rtattr*>(reinterpret_cast<char*>(NLMSG_DATA(message)) +
                                         NLMSG_ALIGN(sizeof *body));
  for (; RTA_OK(each, left); each = RTA_NEXT(each, left)) {
    if (each->rta_type != UNIX_DIAG_PEER || RTA_PAYLOAD(each) < sizeof(std::uint32_t)) continue;
    const auto peer = *static_cast<const std::uint32_t*>(RTA_DATA(each));
    if (peer != 0) links.emplace(body->udiag_ino, peer);
  }
}

/// False after the last message.
bool add_links(char* answer, std::size_t bytes, Links& links) {
  auto left = static_cast<unsigned>(bytes);
  auto* message = reinterpret_cast<nlmsghdr*>(answer);
  for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
    if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY) return false;
    if (message->nlmsg_len >= NLMSG_LENGTH(sizeof(unix_diag_msg))) add_link(message, links);
  }
  return true;
}

Links unix_links() {
  Links links;
  const Fd socket = ask_kernel();
  if (!socket) return links;
  alignas(nlmsghdr) std::array<char, kAnswerBytes> answer;
  for (;;) {
    const auto bytes = ::recv(socket.number(), answer.data(), answer.size(), 0);
    if (bytes <= 0 || !add_links(answer.data(), static_cast<std::size_t>(bytes), links))
      return links;
  }
}

}  // namespace

std::optional<std::string> unix_link_out_of(const std::vector<pid_t>& tree) {
  const auto ours = sockets_of(tree);
  for (const auto& [socket, peer] : unix_links()) {
    const auto owner = ours.find(socket);
    if (owner == ours.end() || ours.contains(peer)) continue;
    const auto others = sockets_of(tree_below(1));
    const auto other = others.find(peer);
    return owner->second + " has a Unix socket connected to " +
           (other == others.end() ? "one that no process has accepted yet" : other->second);
  }
  return std::nullopt;
}

std::optional<std::string> wait_for_unix_links(const std::vector<pid_t>& tree,
                                               const Deadline& deadline) {
  const TimeNs last = std::min(deadline.at, monotonic_now() + kWaitMost);
  auto link = unix_link_out_of(tree);
  while (link && monotonic_now() < last && !deadline.stopped()) {
    pause(kLookEvery, deadline);
    link = unix_link_out_of(tree);
  }
  return link;
}

}  // namespace livebtl::hypervisor
