// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/coordinators.cc -- envelopes and drivers of the simulated control plane.
#include "tests/sim/world/coordinators.h"

#include <algorithm>

#include "control/wire/messages.h"

namespace livebtl::sim {
namespace {

control::CoordinatorTimes quick_times() {
  control::CoordinatorTimes times;
  times.total = 3 * kSecond;
  times.rung = 400 * kMillisecond;
  times.rescan = 5 * kMillisecond;
  times.resend = 10 * kMillisecond;
  times.keepalive = 100 * kMillisecond;
  times.goodbye = 50 * kMillisecond;
  return times;
}

control::MemberEvent as_event(const control::Request& request) {
  return std::visit(
      [](const auto& known) -> control::MemberEvent {
        if constexpr (std::is_constructible_v<control::MemberEvent, decltype(known)>)
          return known;
        else
          return control::StandingRequest{};
      },
      request);
}

}  // namespace

Coordinators::Coordinators(SimNetwork& network, Processes& processes, Random& random)
    : network_(network), processes_(processes), random_(random) {}

SimProcess* Coordinators::find(control::MemberId member) {
  const auto at = std::ranges::find_if(
      processes_, [&](const auto& process) { return process->member_id() == member; });
  return at != processes_.end() ? at->get() : nullptr;
}

Coordinators::Driver* Coordinators::find(std::uint64_t id) {
  const auto at =
      std::ranges::find_if(drivers_, [id](const Driver& driver) { return driver.id == id; });
  return at != drivers_.end() ? &*at : nullptr;
}

void Coordinators::post(const std::function<void()>& open, bool reliable) {
  const double loss = reliable ? 0.0 : network_.plan().control_loss;
  int copies = 1;
  if (random_.chance(loss)) {
    network_.counts().note(Fault::kControlLoss);
    copies = random_.chance(0.5) ? 0 : 2;
  }
  for (; copies > 0; --copies) {
    const std::uint64_t late = random_.chance(loss) ? 100 * kMillisecond : 500 * kMicrosecond;
    put_in(network_.clock().now() + 1 + static_cast<TimeNs>(random_.below(late)), open);
  }
}

void Coordinators::put_in(TimeNs at, std::function<void()> open) {
  deliveries_.push_back({at, next_number_++, std::move(open)});
  std::ranges::push_heap(deliveries_, std::greater<>());
}

void Coordinators::start(const std::string& verb, const std::vector<std::string>& arguments,
                         const std::string& scope) {
  control::Command command;
  command.job = "sim";
  command.verb = verb;
  command.arguments = arguments;
  command.scope = scope;
  command.coordinator = random_.next() | 1;
  command.operation = random_.next() | 1;
  std::string name = verb;
  for (const std::string& argument : arguments) name += ' ' + argument;
  if (!scope.empty()) name += " on " + scope;
  add(std::move(command), std::move(name), nullptr);
}

void Coordinators::take_over(SimProcess& process) {
  add(control::takeover_command("sim", random_.next()), "takeover", &process);
}

void Coordinators::add(control::Command command, std::string name, SimProcess* owner) {
  command.times = quick_times();
  Driver driver;
  driver.id = command.coordinator;
  driver.started = network_.clock().now();
  driver.command = std::move(name);
  driver.owner = owner;
  driver.machine =
      std::make_unique<control::CoordinatorMachine>(std::move(command), network_.clock().now());
  drivers_.push_back(std::move(driver));
  feed(drivers_.back().id, control::Tick{});
}

void Coordinators::crash_one() {
  if (drivers_.empty()) return;
  network_.counts().note(Fault::kCoordinatorCrash);
  drivers_.erase(drivers_.begin() + static_cast<std::ptrdiff_t>(random_.below(drivers_.size())));
}

void Coordinators::feed(std::uint64_t id, const control::CoordinatorEvent& event) {
  Driver* const driver = find(id);
  if (driver == nullptr || owner_is_away(*driver, event)) return;
  if (driver->owner == nullptr && random_.chance(network_.plan().coordinator_crash)) {
    network_.counts().note(Fault::kCoordinatorCrash);
    drivers_.erase(drivers_.begin() + (driver - drivers_.data()));
    return;
  }
  const auto actions = driver->machine->step(event, network_.clock().now());
  for (const control::CoordinatorAction& action : actions) act(id, action);
  if (!driver->machine->done()) return;
  ended_.push_back({driver->command, driver->machine->outcome(),
                    network_.clock().now() - driver->started, driver->owner});
  drivers_.erase(drivers_.begin() + (driver - drivers_.data()));
}

bool Coordinators::owner_is_away(const Driver& driver, const control::CoordinatorEvent& event) {
  if (driver.owner == nullptr) return false;
  if (!driver.owner->alive()) {
    drivers_.erase(drivers_.begin() + (&driver - drivers_.data()));
    return true;
  }
  if (!driver.owner->frozen()) return false;
  if (!std::holds_alternative<control::Tick>(event))
    put_in(driver.owner->frozen_until(), [this, id = driver.id, event] { feed(id, event); });
  return true;
}

void Coordinators::act(std::uint64_t id, const control::CoordinatorAction& action) {
  if (const auto* scan = std::get_if<control::Scan>(&action)) {
    post([this, id, number = scan->number] { answer_scan(id, number); }, true);
  } else if (const auto* send = std::get_if<control::Send>(&action)) {
    post([this, id, to = send->to, request = send->request] {
      SimProcess* const process = find(to);
      if (process == nullptr || !process->alive()) return;
      if (const auto* plan = std::get_if<control::PlanRequest>(&request)) {
        const control::PlanAnswer answer{process->member_id(), process->standing().name,
                                         process->engine().plan(plan->routing)};
        return post([this, id, answer] { feed(id, answer); });
      }
      deliver(*process, as_event(request), id);
    });
  }
}

void Coordinators::answer_scan(std::uint64_t id, std::uint64_t number) {
  control::MembersFound found;
  found.scan = number;
  for (const auto& process : processes_) {
    if (process->alive())
      found.members.push_back(process->member_id());
    else
      feed(id, control::MemberGone{process->member_id(), process->standing().rank});
  }
  feed(id, found);
}

void Coordinators::deliver(SimProcess& process, const control::MemberEvent& event,
                           std::uint64_t from) {
  if (!process.alive()) return;
  if (process.frozen()) {
    put_in(process.frozen_until(),
           [this, &process, event, from] { deliver(process, event, from); });
    return;
  }
  process.thaw();
  process.step(event, [this, from](const control::MemberAction& action) {
    if (const auto* answer = std::get_if<control::Answer>(&action))
      send_to_driver(from, answer->standing);
    if (const auto* notify = std::get_if<control::Notify>(&action))
      send_to_driver(notify->standing.term.coordinator, notify->standing);
  });
  if (on_step) on_step(process);
}

void Coordinators::ask_to_join(SimProcess& process) {
  std::vector<SimProcess*> members;
  for (const auto& other : processes_) {
    if (other->alive() && other->joined()) members.push_back(other.get());
  }
  if (members.empty()) return;
  SimProcess* const asked = members[random_.below(members.size())];
  post([this, &process, asked] {
    if (!asked->alive() || asked->frozen()) return;
    const control::Standing standing = asked->standing();
    post([this, &process, standing] {
      if (process.alive() && !process.joined())
        deliver(process, control::JoinFrom{standing, process.number() % 2 == 1}, 0);
    });
  });
}

void Coordinators::search() {
  for (const auto& process : processes_) {
    if (!process->alive() || process->frozen()) continue;
    for (const ProcessId wanted : process->to_ask()) ask_addresses(*process, wanted);
  }
}

// Encoded and decoded, as over a wire. If a process has ended, its unlocked file is the proof.
void Coordinators::ask_addresses(SimProcess& asker, ProcessId wanted) {
  const auto hear = [this, &asker](const std::function<void(core::EngineCore&)>& what) {
    post([&asker, what] {
      if (asker.alive() && !asker.frozen()) what(asker.engine());
    });
  };
  post([this, hear, wanted] {
    SimProcess* const asked = find({wanted, Incarnation{1}});
    if (asked == nullptr || (asked->alive() && asked->frozen())) return;
    if (!asked->alive()) return hear([wanted](core::EngineCore& by) { by.proved_dead(wanted); });
    const auto answer = control::AddressesAnswer{asked->member_id(), 0, asked->engine().contacts()};
    hear([wanted, message = control::decode(control::encode(answer).value()).value()](
             core::EngineCore& by) {
      by.introduce(wanted, std::get<control::AddressesAnswer>(message).addresses);
    });
  });
}

void Coordinators::run() {
  while (!deliveries_.empty() && deliveries_.front().at <= network_.clock().now()) {
    std::ranges::pop_heap(deliveries_, std::greater<>());
    const std::function<void()> open = std::move(deliveries_.back().open);
    deliveries_.pop_back();
    open();
  }
  std::vector<std::uint64_t> due;
  for (const Driver& driver : drivers_)
    if (driver.machine->wake_at() <= network_.clock().now()) due.push_back(driver.id);
  for (const std::uint64_t id : due) feed(id, control::Tick{});
  search();
}

TimeNs Coordinators::next_event() const {
  TimeNs next = deliveries_.empty() ? kNever : deliveries_.front().at;
  for (const Driver& driver : drivers_) {
    const bool away = driver.owner != nullptr && driver.owner->alive() && driver.owner->frozen();
    next = std::min(next, away ? driver.owner->frozen_until() : driver.machine->wake_at());
  }
  return next;
}

}  // namespace livebtl::sim
