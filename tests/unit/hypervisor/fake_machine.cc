// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/fake_machine.cc -- see fake_machine.h.
#include "tests/unit/hypervisor/fake_machine.h"

#include <poll.h>
#include <sys/un.h>

#include <cstring>
#include <utility>

namespace livebtl::hypervisor {
FakeMachine::FakeMachine(const std::string& directory, const std::string& name)
    : base_(directory + "/" + name) {
  listen(qmp(), &FakeMachine::serve_monitor);
  listen(agent(), &FakeMachine::serve_agent);
}

FakeMachine::~FakeMachine() {
  ending_.store(true);
  for (auto& thread : threads_) thread.join();
}

void FakeMachine::listen(const std::string& path, Serve serve) {
  Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::bind(listener.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener.number(), 1) == 0);
  threads_.emplace_back([this, serve, socket = std::move(listener)] {
    while (!ending_.load()) {
      pollfd asked{socket.number(), POLLIN, 0};
      if (::poll(&asked, 1, 20) <= 0) continue;
      Fd client(::accept4(socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      const int number = client.number();
      JsonLineSocket lines(std::move(client), "client");
      (this->*serve)(lines, number);
    }
  });
}

/// Peeks before the command is read: that read would lose a descriptor that comes with it.
bool FakeMachine::wait_for_command(int number) {
  pollfd asked{number, POLLIN, 0};
  if (::poll(&asked, 1, 10) <= 0) return false;
  char byte = 0;
  iovec bytes{&byte, 1};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(number, &message, MSG_PEEK | MSG_CMSG_CLOEXEC) <= 0) return true;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return true;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  descriptor_ = Fd(descriptor);
  return true;
}

void FakeMachine::serve_monitor(JsonLineSocket& socket, int number) {
  const Deadline deadline{long_enough().at, &ending_};
  if (!socket.send({{"QMP", Json::object()}}, "", deadline)) return;
  with([](State& state) { ++state.monitors; });
  for (;;) {
    const bool comes = wait_for_command(number);
    if (!comes && ending_.load()) return;
    std::vector<Json> events = with([this](State&) { return std::exchange(late_events_, {}); });
    for (const Json& event : events) {
      if (!socket.send(event, "", deadline)) return;
    }
    events.clear();
    if (!comes) continue;
    const auto heard = socket.receive(deadline);
    if (!heard) return;
    const std::string command = text_member(*heard, "execute");
    if (with([&command](State& state) { return state.unanswered.contains(command); })) continue;
    Json answer = answer_monitor(command, heard->value("arguments", Json::object()), events);
    answer["id"] = (*heard)["id"];
    if (!socket.send(answer, "", deadline)) return;
    for (const Json& event : events) {
      if (!socket.send(event, "", deadline)) return;
    }
  }
}

void FakeMachine::serve_agent(JsonLineSocket& socket, int) {
  const Deadline deadline{long_enough().at, &ending_};
  for (;;) {
    const auto heard = socket.receive(deadline);
    if (!heard) return;
    const Json answer =
        answer_agent(text_member(*heard, "execute"), heard->value("arguments", Json::object()));
    if (!socket.send(answer, "\xff", deadline)) return;
  }
}

}  // namespace livebtl::hypervisor
