// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/sim_process.cc -- turns of a simulated process.
#include "tests/sim/world/sim_process.h"

#include <algorithm>
#include <cstdio>

#include "base/log.h"

namespace livebtl::sim {
namespace {

control::MemberFacts facts_of(const ProcessOptions& options) {
  control::MemberFacts facts;
  facts.job = "sim";
  facts.member = {ProcessId{options.number}, Incarnation{1}};
  facts.name = "rank " + std::to_string(options.number - 1);
  if (options.announced != 0) facts.rank = static_cast<int>(options.number) - 1;
  facts.node = core::node_name(options.node);
  facts.host = "node" + std::to_string(options.node);
  facts.announced = options.announced;
  facts.routing.excluded = options.excluded;
  for (const SimKind& kind : sim_kinds()) {
    if (kind.name != options.lacks) facts.transports.push_back({kind.name, ""});
  }
  return facts;
}

/// Labels the log lines that follow with process and time: all engines share one log.
void name_in_log(std::uint64_t number, TimeNs now) {
  if (log_level() < LogLevel::kInfo) return;
  char text[48];
  std::snprintf(text, sizeof text, "%10.6f process %llu:", static_cast<double>(now) / 1e9,
                static_cast<unsigned long long>(number));
  set_log_prefix(text);
}

}  // namespace

SimProcess::SimProcess(SimNetwork& network, Ledger& ledger, const ProcessOptions& options)
    : network_(network),
      ledger_(ledger),
      options_(options),
      node_name_(core::node_name(options.node)),
      random_(options.seed),
      clock_(network.clock()),
      application_(options.number, ledger, random_.next()),
      member_(facts_of(options)),
      watch_(options.seed),
      engine_(std::make_unique<core::EngineCore>(config())),
      next_turn_(network.clock().now()) {
  engine_->on_report([this] { report_due_ = true; });
  engine_->on_event([this](const EngineEvent& event) {
    if (event.kind == EngineEvent::Kind::kPeerLost)
      ledger_.told_lost(number(), static_cast<std::uint64_t>(event.peer));
  });
}

SimProcess::~SimProcess() {
  if (alive()) application_.close();
}

core::EngineConfig SimProcess::config() {
  core::EngineConfig made;
  made.settings.window_bytes = 16u << 10;
  made.settings.credit_bytes = 8u << 10;
  made.settings.credit_headers = 24;
  made.settings.unexpected_bytes = static_cast<std::uint32_t>(options_.seed / 15 % 3) * (2u << 10);
  made.settings.operations_max = 64;
  made.settings.probe_ms = 40;
  made.settings.dead_ms = 5;
  made.settings.box_after = static_cast<std::uint32_t>(options_.seed % 5);  // 0: no fast boxes
  made.settings.boxes_max = 1 + static_cast<std::uint32_t>(options_.seed / 5 % 3);
  made.settings.linger_ms = options_.linger_ms;
  made.job = "sim";
  made.label = "rank " + std::to_string(options_.number - 1);
  if (options_.secret) made.secret = Secret(std::array<std::byte, 32>{std::byte{42}});
  made.process = id();
  made.node = options_.node;
  made.routing.excluded = options_.excluded;
  made.kinds = network_.kinds();
  std::erase_if(made.kinds, [this](const auto& kind) { return kind.name == options_.lacks; });
  made.now = [this] { return clock_.now(); };
  made.sets_timers = false;
  made.seed = random_.next();
  made.first_seq = options_.first_seq;
  return made;
}

void SimProcess::begin() {
  // A device that refuses to open is tried again: a process without its transports is another test.
  // If the engine refused an order because of such a device, the routing before it applies until a
  // coordinator repeats the order.
  const core::Rung stands = engine_->report().refusal.empty() ? order_.rung : core::Rung::kOld;
  const auto excluded = [this, stands](const std::string& name) {
    if (order_.operation == 0) return options_.excluded.contains(name);
    const bool by_old = core::RoutingView(order_.before, node_name()).excluded(name);
    const bool by_new = core::RoutingView(order_.after, node_name()).excluded(name);
    if (stands == core::Rung::kOld) return by_old;
    return stands == core::Rung::kNew ? by_new : by_old && by_new;
  };
  const auto all_open = [&] {
    return std::ranges::all_of(sim_kinds(), [&](const SimKind& kind) {
      return kind.name == options_.lacks || excluded(kind.name) ||
             network_.find(kind.name, id()) != nullptr;
    });
  };
  constexpr int kTries = 1'000;
  for (int tries = 0; !all_open(); ++tries) {
    if (tries == kTries) {
      ledger_.fail("process " + std::to_string(number()) + " never opens what its order names");
      break;
    }
    static_cast<void>(engine_->open_transports());
  }
  application_.open(*engine_);
  begun_ = true;
}

void SimProcess::meet(SimProcess& other) {
  application_.meet(other.number(), engine_->peer(other.application().address()).value());
}

void SimProcess::die() {
  network_.kill(id());
  if (begun_) application_.close();
  end();
}

void SimProcess::end() {
  engine_.reset();
  next_turn_ = kNever;
}

void SimProcess::leave(bool patient) { leaves_ = patient ? Leaves::kPatiently : Leaves::kAtOnce; }

// Like a program that ends: its last operations, its port, its engine; the agent lives until that
// has ended.
void SimProcess::wind_up() {
  if (leaves_ == Leaves::kAtOnce || (leaves_ == Leaves::kPatiently && application_.wound_up())) {
    ledger_.leaves(number(), options_.linger_ms >= 0);
    leaves_ = Leaves::kLingering;
    application_.close();
  }
  if (leaves_ == Leaves::kLingering && engine_->linger_turn()) end();
}

void SimProcess::freeze(TimeNs until, bool clock_stops) {
  frozen_since_ = network_.clock().now();
  frozen_until_ = until;
  clock_stops_ = clock_stops;
  next_turn_ = until;
}

bool SimProcess::frozen() const noexcept { return frozen_until_ > network_.clock().now(); }

void SimProcess::thaw() {
  if (frozen_until_ == 0) return;
  if (clock_stops_) clock_.lose(network_.clock().now() - frozen_since_);
  frozen_until_ = 0;
}

// As in the product: it gets a turn after a message or a report, at a deadline that it stated, and
// when something arrives while the application is away. In place of the timer that detects absence,
// this looks every millisecond.
void SimProcess::move_agent(TimeNs now) {
  const bool woken = agent_armed_ && network_.next_event(id()) <= now;
  if (now < agent_at_ && !woken) return;
  const std::int64_t sleep = engine_->agent_turn();
  agent_armed_ = engine_->wait_fds().size() > 1;
  agent_at_ = sleep < 0 ? kNever : now + sleep;
  if (!agent_armed_) agent_at_ = std::min(agent_at_, now + kMillisecond);
}

// Reads the clock, as callers that wait do.
void SimProcess::call_wait(TimeNs now) {
  if (!begun_ || computes_until_ > now || now < waits_at_) return;
  waits_at_ = now + kMillisecond;
  engine_->wait(0);
}

std::size_t SimProcess::move_application(TimeNs now, bool sending) {
  if (!begun_ || computes_until_ > now) return 0;
  if (leaves_ != Leaves::kLingering && random_.chance(0.4)) application_.turn(sending);
  const std::size_t moved = engine_->progress();
  if (sending && random_.chance(0.002))
    computes_until_ = now + static_cast<TimeNs>(random_.below(20 * kMillisecond));
  return moved;
}

void SimProcess::turn(bool sending) {
  const TimeNs now = network_.clock().now();
  thaw();
  name_in_log(number(), now);
  move_agent(now);
  call_wait(now);
  sending = sending && leaves_ == Leaves::kNot;
  const std::size_t moved = move_application(now, sending);
  wind_up();
  if (!alive()) return;
  const bool busy = moved != 0 || (sending && computes_until_ <= now && random_.chance(0.5));
  const TimeNs asked = computes_until_ > now ? kNever : network_.next_event(id());
  const TimeNs idle = std::min({asked, std::max(agent_at_, now + 1), now + kMillisecond});
  const TimeNs next = busy ? now + 3 * kMicrosecond : idle;
  next_turn_ = std::max(next, now + std::max(pace_, kMicrosecond));
}

void SimProcess::report_back(const Reply& reply) {
  report_due_ = false;
  search_.hurry();
  told_ = engine_->report();
  step(told_, reply);
}

std::vector<ProcessId> SimProcess::to_ask() {
  if (!begun_ || !engine_->seeks() || clock_.now() < search_.due_at()) return {};
  return search_.due(engine_->unreached(), clock_.now());
}

void SimProcess::step(const control::MemberEvent& event, const Reply& reply) {
  if (std::holds_alternative<core::RungReport>(event)) {
    report_due_ = false;
    search_.hurry();
  }
  name_in_log(number(), network_.clock().now());
  agent_at_ = network_.clock().now();
  for (const control::MemberAction& action : member_.step(event, clock_.now())) {
    if (const auto* submit = std::get_if<control::Submit>(&action)) {
      told_.reached = false;
      order_ = submit->order;
      engine_->submit(submit->order);
      report_back(reply);
    } else if (const auto* adopt = std::get_if<control::Adopt>(&action)) {
      told_.reached = false;
      order_ = adopt->order;
      engine_->adopt(adopt->order);
      report_back(reply);
    } else {
      reply(action);
    }
  }
}

}  // namespace livebtl::sim
