// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_world_relays.cc -- relays between coordinators and members, with the
// production machines of both sides: they die, stall and are replaced, and each hop loses, repeats
// and delays messages like any other.

#include <algorithm>

#include "tests/sim/ladder/ladder_world.h"

namespace livebtl::control {
namespace {

std::string name_of(std::size_t node) {
  std::string number = std::to_string(node);
  return "tcp://node" + std::string(6 - number.size(), '0') + number + ":1";
}

std::size_t node_named(const std::string& name) {
  return static_cast<std::size_t>(std::stoul(name.substr(name.find("node") + 4)));
}

/// The return route to a coordinator is its number, to a relay its node, life, session and via.
std::string way_back(std::size_t node, std::uint64_t life, const ToRelay& asked) {
  return "r " + std::to_string(node) + " " + std::to_string(life) + " " +
         std::to_string(asked.session) + " " + std::to_string(asked.via);
}

std::vector<std::uint64_t> numbers_in(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1))
    numbers.push_back(std::stoull(text.substr(at + 1)));
  return numbers;
}

}  // namespace

// -- the route of a message

/// A process is busy while it sends or receives a message.
TimeNs LadderWorld::occupy(Place place) {
  TimeNs& until = busy_until_[place];
  until = std::max(until, now_) + faults_.message;
  return until;
}

void LadderWorld::carry(Place from, Place to, const std::function<void()>& deliver) {
  if (faults_.message == 0) return carry(deliver);
  const TimeNs left = occupy(from) + faults_.hop;
  at(left, [this, to, deliver] { carry([this, to, deliver] { at(occupy(to), deliver); }); });
}

// -- coordinators

void LadderWorld::send_by_relays(std::size_t index, const std::vector<Send>& sends) {
  std::map<std::size_t, std::string> names;
  const auto relay_of = [&](MemberId member) -> const std::string* {
    const std::size_t node = node_of(static_cast<std::size_t>(member.process) - 1);
    return relay(node).merges ? &(names[node] = name_of(node)) : nullptr;
  };
  Coordinator& one = coordinator(index);
  for (const Question& question : one.questions.put(sends, relay_of, now_ + one.clock_offset)) {
    ++one.sent;
    if (const auto* plain = std::get_if<Send>(&question)) {
      send(index, *plain);
      continue;
    }
    const auto& asked = std::get<AskRelay>(question);
    const std::size_t node = node_named(asked.relay);
    const auto take = [this, node, index, request = asked.request] {
      relay_takes(node, "c " + std::to_string(index), request);
    };
    carry({'c', index}, {'r', node}, [this, node, take] { to_relay(node, take); });
  }
}

void LadderWorld::coordinator_hears(std::size_t index, std::size_t node,
                                    const NodeStanding& answer) {
  Coordinator& one = coordinator(index);
  ++one.heard;
  const NodeQuestions::Heard heard = one.questions.hear(name_of(node), answer);
  for (const MemberId gone : heard.gone) feed_coordinator(index, MemberGone{gone, -1});
  if (!heard.standings.empty()) feed_coordinator(index, Standings{heard.standings});
}

// -- relays

void LadderWorld::to_relay(std::size_t node, std::function<void()> run) {
  Relay& one = relay(node);
  if (!one.alive) return;
  if (one.frozen) {
    one.backlog.push_back(std::move(run));
  } else {
    run();
  }
}

void LadderWorld::relay_takes(std::size_t node, const std::string& client,
                              const NodeRequest& request) {
  relay_acts(node, relay(node).merge.ask(client, request, now_));
}

void LadderWorld::relay_acts(std::size_t node, const std::vector<MergeAction>& actions) {
  for (const MergeAction& action : actions)
    std::visit([&](const auto& wanted) { relay_act(node, wanted); }, action);
  Relay& one = relay(node);
  const TimeNs wake = one.merge.wake_at();
  if (wake == INT64_MAX || (one.tick_at > now_ && one.tick_at <= wake)) return;
  one.tick_at = std::max(wake, now_ + 1);
  at(one.tick_at, [this, node, life = one.life] {
    to_relay(node, [this, node, life] {
      if (relay(node).life == life) relay_acts(node, relay(node).merge.turn(now_));
    });
  });
}

void LadderWorld::relay_act(std::size_t node, const ToMembers& asked) {
  const Place here{'r', node};
  for (const ProcessId process : asked.members) {
    const std::size_t index = static_cast<std::size_t>(process) - 1;
    if (!member(index).alive) {
      relay_acts(node, relay(node).merge.gone(asked.session, process, now_));
      continue;
    }
    const Place there{'m', index};
    const auto reply = [this, node, here, there, life = relay(node).life,
                        session = asked.session](const Standing& standing) {
      const auto take = [this, node, life, session, standing] {
        Relay& one = relay(node);  // of another life: the connection has ended
        if (one.life == life) relay_acts(node, one.merge.heard(session, standing, now_));
      };
      carry(there, here, [this, node, take] { to_relay(node, take); });
    };
    carry(here, there, [this, index, reply, request = asked.request] {
      to_member(index, [this, index, reply, request] {
        std::visit(
            [&](const auto& known) {
              if constexpr (!std::is_same_v<std::decay_t<decltype(known)>, PlanRequest>)
                feed_member(index, known, reply);
            },
            request);
      });
    });
  }
}

void LadderWorld::relay_act(std::size_t node, const ToRelay& asked) {
  ++counts_.passed_on;
  const std::size_t other = node_named(asked.relay);
  const std::string client = way_back(node, relay(node).life, asked);
  const auto take = [this, other, client, request = asked.request] {
    relay_takes(other, client, request);
  };
  carry({'r', node}, {'r', other}, [this, other, take] { to_relay(other, take); });
}

void LadderWorld::relay_act(std::size_t node, const ToClient& told) {
  if (told.answer.groups.size() == 1 && told.answer.groups[0].members.size() > 1) ++counts_.merged;
  if (told.client.starts_with('r')) return tell_relay(node, told);
  const auto index = static_cast<std::size_t>(numbers_in(told.client).at(0));
  carry({'r', node}, {'c', index},
        [this, node, index, answer = told.answer] { coordinator_hears(index, node, answer); });
}

void LadderWorld::tell_relay(std::size_t node, const ToClient& told) {
  const auto way = numbers_in(told.client);
  const auto other = static_cast<std::size_t>(way.at(0));
  const auto take = [this, other, way, answer = told.answer] {
    Relay& one = relay(other);
    if (one.life != way[1]) return;
    const auto via = static_cast<std::uint32_t>(way[3]);
    relay_acts(other, one.merge.heard(way[2], via, answer, now_));
  };
  carry({'r', node}, {'r', other}, [this, other, take] { to_relay(other, take); });
}

// -- what happens to them

void LadderWorld::freeze_relay(std::size_t node, bool frozen) {
  Relay& one = relay(node);
  if (frozen && !one.frozen) ++counts_.relay_freezes;
  one.frozen = frozen;
  if (frozen) return;
  for (auto& run : std::exchange(one.backlog, {}))
    at(now_, [this, node, run = std::move(run)] { to_relay(node, run); });
}

void LadderWorld::kill_relay(std::size_t node) {
  Relay& one = relay(node);
  if (one.alive) ++counts_.relay_deaths;
  one.alive = one.frozen = false;
  one.backlog.clear();
}

void LadderWorld::replace_relay(std::size_t node) {
  const std::uint64_t life = relay(node).life + 1;
  const bool merges = relay(node).merges;
  relay(node) = Relay();
  relay(node).life = life;
  relay(node).merges = merges;
}

}  // namespace livebtl::control
