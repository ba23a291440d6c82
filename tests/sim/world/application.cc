// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/application.cc -- what a simulated process does with its port.
#include "tests/sim/world/application.h"

#include <algorithm>

#include "base/assert.h"

namespace livebtl::sim {
namespace {

enum Kind : int { kSend, kReceive, kReceiveAny, kActive, kAdd, kPut, kGet };
constexpr const char* kKindNames[] = {"send", "receive", "receive from anybody", "active", "add",
                                      "put",  "get"};

constexpr Tag kAnyTag = 2;     // received from anybody
constexpr Tag kActiveTag = 3;  // in the ledger only
constexpr std::size_t kMessageMax = 20'100;
constexpr std::size_t kCellWords = 1024;  // a put may be larger than an eager message
constexpr std::size_t kProcessesMax = 16;
constexpr std::uint64_t kRegionKey = 1;
constexpr std::uint8_t kHandler = 7;
// Unmatched, from one sender: the processes' credit_headers, and what their unexpected_bytes hold.
constexpr std::size_t kOffersMax = 24 + 22;

}  // namespace

struct Application::Task {
  Operation operation;
  Application* application = nullptr;
  int kind = kSend;
  std::size_t other = 0;
  Tag tag = 0;
  std::uint64_t index = 0;
  Blob buffer;
  // For a receive: not initialised, as filling large ones took an eighth of the simulation's time.
  std::unique_ptr<std::byte[]> room;
  std::size_t room_bytes = 0;
  std::uint64_t words[2] = {0, 0};
  bool finished = false;

  MutableSlice make_room(std::size_t bytes) {
    room = std::make_unique_for_overwrite<std::byte[]>(bytes);
    room_bytes = bytes;
    return {room.get(), bytes};
  }
};

Application::Application(std::uint64_t self, Ledger& ledger, std::uint64_t seed)
    : self_(self), ledger_(ledger), random_(seed), region_(1 + kProcessesMax * kCellWords) {}

Application::~Application() = default;

void Application::open(Engine& engine) {
  port_ = engine.open_port({}).value();
  RegionRequest request;
  request.base = region_.data();
  request.bytes = region_.size() * sizeof(std::uint64_t);
  request.key = kRegionKey;
  LIVEBTL_ASSERT(port_->register_region(request).has_value(), "the first key is free");
  port_->on_active(kHandler, [this](const ActiveMessage& message) {
    for (const Other& other : others_) {
      if (other.destination.peer != message.source.peer) continue;
      return ledger_.active_received(stream_from(other.process, kActiveTag), message.argument);
    }
    ledger_.fail("an active message from a process that is not known");
  });
}

void Application::close() { port_.reset(); }

void Application::meet(std::uint64_t process, const Destination& destination) {
  others_.push_back({});
  others_.back().process = process;
  others_.back().destination = destination;
}

Application::Task& Application::start(int kind, std::size_t other) {
  tasks_.push_back(std::make_unique<Task>());
  Task& task = *tasks_.back();
  task.application = this;
  task.kind = kind;
  task.other = other;
  task.operation.done = &Application::done;
  task.operation.user = &task;
  return task;
}

void Application::drop_last() { tasks_.pop_back(); }

bool Application::accepted(Accept answer, Other& other) {
  if (answer == Accept::kAccepted) return true;
  if (answer == Accept::kInvalid) ledger_.fail("the engine calls a valid request invalid");
  if (answer == Accept::kPeerLost && !ledger_.is_gone(other.process)) {
    ledger_.fail("process " + std::to_string(self_) + " holds the living process " +
                 std::to_string(other.process) + " for lost");
  }
  drop_last();
  return false;
}

void Application::turn(bool sending) {
  std::erase_if(tasks_, [](const std::unique_ptr<Task>& task) { return task->finished; });
  for (std::size_t at = 0; at < others_.size(); ++at) {
    for (Tag tag = 0; tag < 2; ++tag) {
      if (others_[at].receives_open[tag] < 3 && random_.chance(0.3)) receive(at, tag);
    }
  }
  // A receive that has matched an offer of a process that has since died never ends: silence is no
  // proof of death. Such receives, as many as it may have offered, must not use up all that are
  // posted.
  const std::size_t dead_offers = kOffersMax * ledger_.lost_count();
  while (any_open_ < 4 + dead_offers && random_.chance(0.5)) receive_any();
  if (random_.chance(0.02)) cancel_any();
  std::vector<std::size_t> to_check;
  to_check.swap(to_check_);
  for (const std::size_t at : to_check) check_put(at);
  if (!sending || others_.empty() || tasks_.size() > 60) return;
  for (std::uint64_t i = random_.below(4); i > 0; --i) {
    const std::size_t at = random_.below(others_.size());
    const std::uint64_t choice = random_.below(20);
    if (choice < 15)
      send(at);
    else if (choice < 17)
      send_active(at);
    else if (choice < 19)
      add(at);
    else
      put(at);
  }
}

void Application::send(std::size_t at) {
  Other& other = others_[at];
  Task& task = start(kSend, at);
  task.tag = random_.below(3);
  const StreamId stream = stream_to(other, task.tag);
  task.index = ledger_.next_to_send(stream);
  task.buffer = ledger_.message(stream, task.index);
  const std::size_t cut = random_.below(task.buffer.size() + 1);
  const Slice slices[] = {{task.buffer.data(), cut},
                          {task.buffer.data() + cut, task.buffer.size() - cut}};
  SendRequest request;
  request.to = other.destination;
  request.tag = task.tag;
  request.delivery_complete = random_.chance(0.2);
  request.slices = slices;
  const Slice whole{task.buffer.data(), task.buffer.size()};
  if (random_.chance(0.7)) request.slices = {&whole, 1};
  if (accepted(port_->send(request, task.operation), other)) ledger_.sent(stream);
}

void Application::send_active(std::size_t at) {
  Other& other = others_[at];
  Task& task = start(kActive, at);
  const StreamId stream = stream_to(other, kActiveTag);
  const std::uint64_t index = task.index = ledger_.next_to_send(stream);
  task.buffer.resize(random_.below(300));
  const Slice slices[] = {{task.buffer.data(), task.buffer.size()}};
  if (accepted(port_->send_active(other.destination, kHandler, index, slices, task.operation),
               other)) {
    ledger_.active_sent(stream);
  }
}

void Application::receive(std::size_t at, Tag tag) {
  Other& other = others_[at];
  // A lost process may have left messages; the offers among these can no longer be fetched.
  if (ledger_.is_lost(other.process) || other.receives_in_vain[tag] > kOffersMax) return;
  Task& task = start(kReceive, at);
  task.tag = tag;
  task.index = other.receives_posted[tag];
  const MutableSlice slices[] = {task.make_room(random_.chance(0.05) ? 40 : kMessageMax)};
  ReceiveRequest request;
  request.tag = tag;
  request.from = other.destination;
  request.slices = slices;
  // Counted first: an unexpected message may complete it before the call returns.
  ++other.receives_posted[tag];
  ++other.receives_open[tag];
  if (accepted(port_->receive(request, task.operation), other)) return;
  --other.receives_posted[tag];
  --other.receives_open[tag];
}

void Application::receive_any() {
  if (others_.empty()) return;
  Task& task = start(kReceiveAny, 0);
  task.tag = kAnyTag;
  task.index = any_posted_++;
  const MutableSlice slices[] = {task.make_room(kMessageMax)};
  ReceiveRequest request;
  request.tag = kAnyTag;
  request.slices = slices;
  ++any_open_;
  if (!accepted(port_->receive(request, task.operation), others_[0])) --any_open_;
}

void Application::cancel_any() {
  for (const auto& task : tasks_) {
    if (task->kind != kReceiveAny || task->finished) continue;
    port_->cancel(task->operation);
    return;
  }
}

void Application::add(std::size_t at) {
  Other& other = others_[at];
  Task& task = start(kAdd, at);
  task.words[0] = 1;
  AtomicRequest request;
  request.to = other.destination;
  request.remote = {kRegionKey, 0};
  request.operand = &task.words[0];
  request.fetched = &task.words[1];
  if (accepted(port_->atomic(request, task.operation), other)) ledger_.added(other.process);
}

void Application::put(std::size_t at) {
  Other& other = others_[at];
  if (other.cell_busy) return;
  Task& task = start(kPut, at);
  task.index = ++other.puts;
  task.buffer = ledger_.message(stream_to(other, 4), task.index);
  task.buffer.resize(std::min(task.buffer.size(), kCellWords * sizeof(std::uint64_t)));
  const Slice slices[] = {{task.buffer.data(), task.buffer.size()}};
  PutRequest request;
  request.to = other.destination;
  request.remote = {kRegionKey, (1 + (self_ - 1) * kCellWords) * sizeof(std::uint64_t)};
  request.slices = slices;
  other.cell_busy = true;
  if (!accepted(port_->put(request, task.operation), other)) other.cell_busy = false;
}

void Application::check_put(std::size_t at) {
  Other& other = others_[at];
  Task& task = start(kGet, at);
  task.index = other.puts;
  Blob wanted = ledger_.message(stream_to(other, 4), task.index);
  task.buffer.resize(std::min(wanted.size(), kCellWords * sizeof(std::uint64_t)));
  const MutableSlice slices[] = {{task.buffer.data(), task.buffer.size()}};
  GetRequest request;
  request.to = other.destination;
  request.remote = {kRegionKey, (1 + (self_ - 1) * kCellWords) * sizeof(std::uint64_t)};
  request.slices = slices;
  const Accept answer = port_->get(request, task.operation);
  if (answer == Accept::kBusy) to_check_.push_back(at);
  accepted(answer, other);
}

void Application::done(Operation& operation, const Completion& completion) noexcept {
  Task& task = *static_cast<Task*>(operation.user);
  task.application->finish(task, completion);
}

void Application::finish(Task& task, const Completion& completion) {
  if (task.finished) ledger_.fail(std::string("a ") + kKindNames[task.kind] + " completed twice");
  task.finished = true;
  if (task.kind == kReceive || task.kind == kReceiveAny) return finish_receive(task, completion);
  Other& other = others_[task.other];
  if (completion.code != Errc::kOk) {
    const bool excused = completion.code == Errc::kCancelled || ledger_.is_gone(other.process);
    if (!excused)
      ledger_.fail(std::string("a ") + kKindNames[task.kind] + " to a living process ended with " +
                   errc_name(completion.code));
    return;
  }
  if (task.kind == kSend) ledger_.done(stream_to(other, task.tag), task.index);
  if (task.kind == kActive) ledger_.done(stream_to(other, kActiveTag), task.index);
  if (task.kind == kAdd) ledger_.fetched(other.process, task.words[1]);
  if (task.kind == kPut) to_check_.push_back(task.other);
  if (task.kind == kGet) {
    other.cell_busy = false;
    Blob wanted = ledger_.message(stream_to(other, 4), task.index);
    wanted.resize(task.buffer.size());
    if (wanted != task.buffer) ledger_.fail("a get does not show the put before it");
  }
  // The buffer is the application's again: a late read of it must be detected.
  std::fill(task.buffer.begin(), task.buffer.end(), std::byte{0xEE});
}

void Application::finish_receive(Task& task, const Completion& completion) {
  const bool any = task.kind == kReceiveAny;
  if (any) {
    --any_open_;
  } else {
    --others_[task.other].receives_open[task.tag];
  }
  if (completion.code == Errc::kCancelled || completion.code == Errc::kPeerLost) {
    if (completion.code == Errc::kCancelled || any) return;
    ++others_[task.other].receives_in_vain[task.tag];
    if (!ledger_.is_gone(others_[task.other].process))
      ledger_.fail("a receive from a living process ended with peer lost");
    return;
  }
  if (!any) others_[task.other].receives_in_vain[task.tag] = 0;
  const auto source = std::find_if(others_.begin(), others_.end(), [&](const Other& other) {
    return other.destination.peer == completion.source.peer;
  });
  if (source == others_.end()) return ledger_.fail("a message from a process that is not known");
  const bool truncated = completion.message_bytes > task.room_bytes;
  if (completion.code != (truncated ? Errc::kTruncated : Errc::kOk)) {
    ledger_.fail(std::string("a receive ended with ") + errc_name(completion.code));
  }
  const StreamId stream = stream_from(source->process, task.tag);
  const Bytes bytes =
      Bytes(task.room.get(), task.room_bytes).first(std::min(completion.bytes, task.room_bytes));
  if (bytes.size() != std::min(completion.message_bytes, task.room_bytes))
    ledger_.fail("a receive says it got another number of bytes");
  if (completion.tag != task.tag) ledger_.fail("a receive got another tag");
  if (any)
    ledger_.received_from_any(stream, task.index, bytes, completion.message_bytes);
  else
    ledger_.received(stream, task.index, bytes, completion.message_bytes);
}

// Receives from a process that is gone end as well, if anything was ever heard from it.
bool Application::settled() const {
  return std::ranges::all_of(tasks_, [this](const std::unique_ptr<Task>& task) {
    if (task->finished || task->kind == kReceiveAny) return true;
    return task->kind == kReceive && !ledger_.must_tell(self_, others_[task->other].process);
  });
}

bool Application::wound_up() const {
  return std::ranges::all_of(tasks_, [](const std::unique_ptr<Task>& task) {
    return task->finished || task->kind == kReceiveAny || task->kind == kReceive;
  });
}

std::string Application::waiting() const {
  std::string text;
  for (const auto& task : tasks_) {
    const bool gone = ledger_.must_tell(self_, others_[task->other].process);
    if (task->finished || task->kind == kReceiveAny || (task->kind == kReceive && !gone)) continue;
    text += std::string(text.empty() ? "" : ", ") + kKindNames[task->kind] + " to " +
            std::to_string(others_[task->other].process);
  }
  return text;
}

}  // namespace livebtl::sim
