// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/world/world.cc -- the main loop of a simulated job, and what happens to it.
#include "tests/sim/world/world.h"

#include <algorithm>
#include <cmath>

namespace livebtl::sim {
namespace {

constexpr std::uint64_t kStepsMax = 3'000'000;
constexpr TimeNs kCalmMax = 120 * kSecond;

std::uint64_t draw_first_seq(Random& random) {
  switch (random.below(4)) {
    case 0:
      return (std::uint64_t{1} << 32) - 3;
    case 1:
      return (std::uint64_t{1} << 63) - 3;
    default:
      return 1;
  }
}

/// Time until the next one leaves.
TimeNs draw_leave(Random& random) { return static_cast<TimeNs>(random.below(200 * kMillisecond)); }

}  // namespace

World::World(std::uint64_t seed, const FaultPlan& plan)
    : seed_(seed),
      plan_(plan),
      random_(seed),
      other_random_(seed ^ 0x1A3E),
      leaves_(seed ^ 0x1EAF),
      ledger_(seed),
      network_(clock_, random_.next(), FaultPlan::calm(), always_rung_.bell.fd()),
      coordinators_(network_, processes_, random_),
      holds_(network_, processes_, seed) {
  announced_ = 2 + static_cast<std::uint32_t>(random_.below(3));
  first_seq_ = draw_first_seq(random_);
  coordinators_.on_step = [this](SimProcess& process) { check_member(process); };
  network_.on_post = [this](const Posted& posted) { note_post(posted); };
  holds_.on_failure = [this](const std::string& what) { fail(what); };
  if (other_random_.chance(0.1)) {
    for (const SimKind& kind : sim_kinds()) excluded_.insert(kind.name);
  }
  for (std::uint32_t i = 0; i < announced_; ++i) add_process(i == 0);
  network_.set_plan(plan_);
  chaos_ends_ = now() + (100 + static_cast<TimeNs>(random_.below(300))) * kMillisecond;
  if (leaves_.chance(plan_.leave)) leave_at_ = now() + draw_leave(leaves_);
  nobody_resumes_ = other_random_.chance(0.5);
  if (random_.chance(0.3))
    join_at_ = now() + static_cast<TimeNs>(random_.below(200 * kMillisecond));
}

World::~World() {
  // All at once, as in a power cut: what the engines do to each other while dying is not tested
  // here.
  for (const auto& process : processes_) {
    if (process->alive()) process->die();
  }
}

SimProcess& World::add_process(bool first) {
  ProcessOptions options;
  options.number = processes_.size() + 1;
  options.node = 1 + random_.below(2);
  options.announced = processes_.size() < announced_ ? announced_ : 0;  // if 0, it announces itself
  options.seed = random_.next();
  options.first_seq = first_seq_;
  options.secret = seed_ % 2 == 0;
  if (leaves_.chance(0.2)) options.linger_ms = static_cast<int>(leaves_.below(30));
  options.excluded = excluded_;
  if (other_random_.chance(0.15)) options.lacks = "beta";
  processes_.push_back(std::make_unique<SimProcess>(network_, ledger_, options));
  SimProcess& fresh = *processes_.back();
  if (processes_.size() > announced_) return fresh;  // joins later, by asking
  const auto nobody = [](const control::MemberAction&) {};
  if (first)
    fresh.step(control::JoinAsFirst{}, nobody);
  else
    fresh.step(control::JoinFrom{processes_.front()->standing()}, nobody);
  everyone_meets(fresh);
  return fresh;
}

void World::everyone_meets(SimProcess& fresh) {
  fresh.begin();
  for (const auto& other : processes_) {
    if (other.get() == &fresh || !other->can_be_met()) continue;
    other->meet(fresh);
    fresh.meet(*other);
  }
}

WorldResult World::run() {
  while (ledger_.failure().empty()) {
    if (++result_.steps > kStepsMax) fail("the run does not come to an end; " + describe());
    pass_time();
    coordinators_.run();
    move_processes();
    note_ended();
    take_over();
    holds_.run(calm_);
    if (!calm_) {
      break_something();
      leave_one();
      give_commands();
      join_one();
      if (now() >= chaos_ends_) stop_faults();
    } else {
      if (now() > deadline_)
        fail("faults stopped long ago, and it has not come to an end; " + describe());
      join_one();
      finish_ladders();
      rejoin();
      if (all_done()) break;
    }
  }
  check_end();
  note_result();
  return result_;
}

void World::pass_time() {
  TimeNs next = coordinators_.next_event();
  for (const auto& process : processes_) {
    if (process->alive()) next = std::min(next, process->next_turn());
  }
  if (!calm_) next = std::min(next, std::max(next_command_, now()));
  next = std::min(next, now() + kMillisecond);
  clock_.advance_to(std::max(next, now()));
}

void World::move_processes() {
  for (const auto& process : processes_) {
    if (!process->alive() || process->next_turn() > now() || process->frozen()) continue;
    process->turn(!calm_);
    if (!process->alive()) continue;  // it has left
    if (process->report_due()) coordinators_.report(*process);
    check_closed(*process);
  }
}

void World::break_something() {
  network_.chaos();
  if (!random_.chance(plan_.freeze + plan_.clock_jump + plan_.member_crash)) return;
  SimProcess& victim = *processes_[random_.below(processes_.size())];
  if (!victim.alive() || victim.frozen()) return;
  const double which = static_cast<double>(random_.below(1'000'000)) / 1e6 *
                       (plan_.freeze + plan_.clock_jump + plan_.member_crash);
  if (which < plan_.member_crash) {
    const auto living =
        std::ranges::count_if(processes_, [](const auto& process) { return process->alive(); });
    if (living <= 2 || joining_ != nullptr) return;
    ledger_.lost(victim.number());
    victim.die();
    // It may be restarted: as a new process, which joins like any other.
    if (join_at_ == 0 && other_random_.chance(0.7))
      join_at_ = now() + 1 + static_cast<TimeNs>(other_random_.below(20 * kMillisecond));
    return;
  }
  const bool clock_stops = which < plan_.member_crash + plan_.freeze;
  network_.counts().note(clock_stops ? Fault::kFreeze : Fault::kClockJump);
  // From a hiccup to far longer than any time-out in the engine.
  const double exponent = 5.0 + static_cast<double>(random_.below(1000)) / 1000.0 * 3.7;
  victim.freeze(now() + static_cast<TimeNs>(std::pow(10.0, exponent)), clock_stops);
}

void World::leave_one() {
  if (now() < leave_at_) return;
  std::vector<SimProcess*> present;
  for (const auto& process : processes_) {
    if (process->alive() && process->begun() && !process->leaving() && process.get() != joining_)
      present.push_back(process.get());
  }
  leave_at_ = present.size() > 2 && leaves_.chance(0.3) ? now() + draw_leave(leaves_) : kNever;
  if (present.size() < 2) return;
  std::swap(present[leaves_.below(present.size())], present.back());
  network_.counts().note(Fault::kLeave);
  present.back()->leave(leaves_.chance(0.5));
  burden(*present[leaves_.below(present.size() - 1)]);
}

// It has not received all that it was sent, and will not for long.
void World::burden(SimProcess& peer) {
  if (leaves_.chance(plan_.stop) && !peer.frozen()) {
    network_.counts().note(Fault::kStop);
    const TimeNs most =
        (leaves_.chance(0.2) ? 8 : 1) * kSecond;  // mostly short: it costs seconds of ours
    peer.freeze(now() + static_cast<TimeNs>(leaves_.below(static_cast<std::uint64_t>(most))),
                false);
  }
  if (leaves_.chance(plan_.slow)) {
    network_.counts().note(Fault::kSlow);
    peer.slow_down(static_cast<TimeNs>(leaves_.below(500 * kMicrosecond)));
  }
}

void World::join_one() {
  if (join_at_ == 0 || now() < join_at_) return;
  if (joining_ == nullptr) joining_ = &add_process(false);
  if (joining_->joined()) {
    everyone_meets(*joining_);
    joining_ = nullptr;
    join_at_ = 0;
  } else if (now() >= ask_again_) {
    ask_again_ = now() + 5 * kMillisecond;
    coordinators_.ask_to_join(*joining_);
  }
}

void World::give_commands() {
  if (now() < next_command_) return;
  next_command_ = now() + static_cast<TimeNs>(random_.below(20 * kMillisecond));
  if (!coordinators_.any() || random_.chance(0.05)) start_random_command();
}

void World::start_random_command() {
  const auto any_name = [this] { return sim_kinds()[random_.below(sim_kinds().size())].name; };
  const std::uint64_t choice = random_.below(20);
  const std::string name = any_name();
  const bool one_node = other_random_.chance(0.3);
  const std::string scope =
      one_node ? "node:node" + std::to_string(1 + other_random_.below(2)) : "";
  if (choice < 8) {
    std::string to = any_name();
    while (to == name) to = any_name();
    coordinators_.start("switch", {name, to}, scope);
  } else if (choice < 11) {
    coordinators_.start("remove", {name}, scope);
  } else if (choice < 14) {
    coordinators_.start("add", {name}, scope);
  } else if (choice < 15) {
    coordinators_.start("quiesce", {name}, scope);
  } else if (choice < 17) {
    coordinators_.start("set", {name, "exclusivity=" + std::to_string(random_.below(40))});
  } else {
    coordinators_.start(choice < 19 ? "resume" : "abort", {});
  }
}

void World::stop_faults() {
  calm_ = true;
  network_.calm();
  deadline_ = now() + kCalmMax;
}

void World::note_ended() {
  for (const Coordinators::Ended& ended : coordinators_.take_ended()) {
    const std::string verb = ended.command.substr(0, ended.command.find(' '));
    ++result_.outcomes[verb + ": " + std::to_string(static_cast<int>(ended.outcome.code))];
    if (ended.outcome.code == ExitCode::kDone && ended.took > result_.slowest) {
      result_.slowest = ended.took;
      result_.slowest_command = ended.command;
    }
    if (ended.outcome.code == ExitCode::kUsage)
      fail("a correct command is called wrong: " + ended.command);
    // What it waits for may take a while: do not start the next one at once.
    if (calm_) next_command_ = now() + 10 * kMillisecond;
    if (ended.owner == nullptr) continue;
    at_it_ = nullptr;
    ended.owner->tried(ended.outcome.code != ExitCode::kDone);
  }
}

void World::finish_ladders() {
  if (nobody_resumes_ || coordinators_.any() || now() < next_command_ || all_rest()) return;
  coordinators_.start("resume", {});
}

namespace {

/// Is there a transport that both have, that connects their nodes, and that the routing permits?
bool joined_by(const core::Routing& job, const SimProcess& one, const SimProcess& other) {
  const core::RoutingView routing(job, one.node_name(), other.node_name());
  return std::ranges::any_of(sim_kinds(), [&](const SimKind& kind) {
    return kind.name != one.lacks() && kind.name != other.lacks() &&
           (!kind.caps.same_node_only || one.node() == other.node()) &&
           !routing.excluded(kind.name) && !routing.quiesced(kind.name);
  });
}

}  // namespace

/// The commands may have split the job into unconnected parts: an operator notices, and adds what
/// every process has.
void World::rejoin() {
  if (coordinators_.any() || at_it_ != nullptr || now() < next_command_ || !all_rest()) return;
  for (const auto& one : processes_) {
    if (!one->alive()) continue;
    const core::Routing& routing = one->routing();
    const bool apart = std::ranges::any_of(processes_, [&](const auto& other) {
      return other->alive() && !joined_by(routing, *one, *other);
    });
    if (!apart) continue;
    const bool in_job = routing.excluded.contains("alpha") || routing.quiesced.contains("alpha");
    if (in_job) return coordinators_.start("add", {"alpha"});
    const core::RoutingView own(routing, one->node_name());
    const bool on_node = own.excluded("alpha") || own.quiesced("alpha");
    if (on_node) return coordinators_.start("add", {"alpha"}, "node:" + one->node_name());
  }
}

/// Does what the agents would: the first process of the lowest node goes first.
void World::take_over() {
  if (at_it_ != nullptr && at_it_->alive()) return;
  at_it_ = nullptr;
  for (const auto& process : processes_) {
    if (!process->alive() || process->frozen() || !process->takeover_due()) continue;
    const auto place = [](const SimProcess& one) { return std::pair{one.node(), one.number()}; };
    const auto before =
        static_cast<std::size_t>(std::ranges::count_if(processes_, [&](const auto& each) {
          return each->alive() && each->joined() && place(*each) < place(*process);
        }));
    if (before != 0 && !process->left_alone(before)) {
      process->not_ours();
      continue;
    }
    at_it_ = process.get();
    coordinators_.take_over(*process);
  }
}

bool World::all_rest() {
  return std::ranges::all_of(
      processes_, [](const auto& process) { return !process->alive() || process->rests(); });
}

bool World::all_done() {
  if (coordinators_.any() || join_at_ != 0 || !all_rest() || !ledger_.complete()) return false;
  return std::ranges::all_of(processes_, [](const auto& process) {
    return !process->alive() || (!process->leaving() && process->application().settled());
  });
}

}  // namespace livebtl::sim
