// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/qmp.cc -- see qmp.h.
#include "hypervisor/qmp/qmp.h"

namespace livebtl::hypervisor {
namespace {

bool still_usable(Errc after) {
  return after == Errc::kRefused || after == Errc::kNotFound || after == Errc::kTimeout ||
         after == Errc::kCancelled || after == Errc::kInvalid;
}

}  // namespace

Result<Qmp> Qmp::open(const std::string& path, const Deadline& deadline) {
  auto socket = JsonLineSocket::connect(path, deadline);
  if (!socket) return tl::unexpected(socket.error());
  return over(std::move(*socket), deadline);
}

Result<Qmp> Qmp::over(JsonLineSocket socket, const Deadline& deadline) {
  Qmp qmp(std::move(socket));
  if (auto greeted = qmp.wait_greeting(deadline); !greeted) return tl::unexpected(greeted.error());
  const auto agreed = qmp.execute("qmp_capabilities", Json::object(), deadline);
  if (!agreed) return tl::unexpected(agreed.error());
  return qmp;
}

// Events from before this connection may precede the greeting: QEMU emits them until it has noticed
// that its last client has left.
Status Qmp::wait_greeting(const Deadline& deadline) {
  for (;;) {
    const auto heard = socket_.receive(deadline);
    if (!heard) return tl::unexpected(heard.error());
    if (member(*heard, "QMP", Json::value_t::object) != nullptr) return {};
    if (member(*heard, "event", Json::value_t::string) == nullptr)
      return fail(Errc::kCorrupt, socket_.name() + " does not greet like a QMP monitor: " +
                                      one_line(heard->dump()) + "; is it another socket of QEMU?");
  }
}

bool Qmp::keep_event(const Json& message) {
  const Json* name = member(message, "event", Json::value_t::string);
  if (name == nullptr) return false;
  const Json* data = member(message, "data", Json::value_t::object);
  if (events_.size() == kEventsMax) events_.pop_front();
  events_.push_back({name->get<std::string>(), data == nullptr ? Json::object() : *data});
  return true;
}

Result<Json> Qmp::read_answer(const std::string& command, const Json& message) const {
  if (const auto value = message.find("return"); value != message.end()) return *value;
  const Json* error = member(message, "error", Json::value_t::object);
  if (error == nullptr)
    return fail(Errc::kCorrupt,
                socket_.name() + ": neither answer nor error: " + one_line(message.dump()));
  const bool no_device = text_member(*error, "class") == "DeviceNotFound";
  return fail(no_device ? Errc::kNotFound : Errc::kRefused,
              "QEMU refuses " + command + ": " + one_line(text_member(*error, "desc")));
}

Result<Json> Qmp::execute(const std::string& command, Json arguments, const Deadline& deadline) {
  const std::uint64_t id = ++last_id_;
  Json message = {{"execute", command}, {"id", id}};
  if (!arguments.empty()) message["arguments"] = std::move(arguments);
  if (const auto sent = socket_.send(message, "", deadline); !sent)
    return tl::unexpected(sent.error());
  return wait_answer(command, id, deadline);
}

Status Qmp::tell(const std::string& command, Json arguments, const Deadline& deadline) {
  return execute(command, std::move(arguments), deadline).map([](const Json&) {});
}

Status Qmp::give_descriptor(const std::string& name, const Fd& descriptor,
                            const Deadline& deadline) {
  const std::uint64_t id = ++last_id_;
  const Json message = {{"execute", "getfd"}, {"id", id}, {"arguments", {{"fdname", name}}}};
  if (auto sent = socket_.send_with(descriptor, message, deadline); !sent) return sent;
  return wait_answer("getfd", id, deadline).map([](const Json&) {});
}

Result<Json> Qmp::wait_answer(const std::string& command, std::uint64_t id,
                              const Deadline& deadline) {
  for (;;) {
    const auto heard = socket_.receive(deadline);
    if (!heard) return tl::unexpected(heard.error());
    if (keep_event(*heard)) continue;
    const auto theirs = heard->find("id");
    // QEMU's answer has no id if it could not even parse the command; other ids belong to commands
    // that were given up.
    if (theirs == heard->end() ? heard->contains("error") : *theirs == id)
      return read_answer(command, *heard);
  }
}

bool Qmp::take_event(const std::string& name, const std::string& device, QmpEvent& event) {
  for (auto each = events_.begin(); each != events_.end(); ++each) {
    if (each->name != name || (!device.empty() && text_member(each->data, "device") != device))
      continue;
    event = std::move(*each);
    events_.erase(each);
    return true;
  }
  return false;
}

Status Qmp::listen(const Deadline& deadline) {
  const auto heard = socket_.receive(deadline);
  if (!heard) return tl::unexpected(heard.error());
  keep_event(*heard);
  return {};
}

Result<QmpEvent> Qmp::wait_event(const std::string& name, const std::string& device,
                                 const Deadline& deadline) {
  QmpEvent event;
  while (!take_event(name, device, event)) {
    if (const auto heard = listen(deadline); !heard) return tl::unexpected(heard.error());
  }
  return event;
}

Status Monitor::run(const Act& act, const Deadline& deadline) {
  if (!qmp_) {
    auto opened = Qmp::open(path_, deadline);
    if (!opened) return tl::unexpected(opened.error());
    qmp_.emplace(std::move(*opened));
  }
  Status status = act(*qmp_, deadline);
  if (!status && !still_usable(status.error().code)) qmp_.reset();
  return status;
}

}  // namespace livebtl::hypervisor
