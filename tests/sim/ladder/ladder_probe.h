// SPDX-License-Identifier: BSD-3-Clause
// tests/sim/ladder/ladder_probe.h -- what tests see inside the machines: the state that decides
// their future, without times and version numbers, so that two states that behave alike count as
// one.
#pragma once

#include <cstdint>
#include <string_view>

#include "control/ladder/coordinator.h"
#include "control/ladder/member.h"

namespace livebtl::control {

/// FNV-1a over words, with a final mix.
class Digest {
 public:
  template <class T>
  void add(T value) {
    word(static_cast<std::uint64_t>(value));
  }
  void add(const Term& term) {
    add(term.number);
    add(term.coordinator);
  }
  std::uint64_t value() const {
    std::uint64_t mixed = state_ ^ (state_ >> 31);
    mixed *= 0xbf58476d1ce4e5b9ULL;
    return mixed ^ (mixed >> 29);
  }

 private:
  void word(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x100000001b3ULL;
    state_ ^= state_ >> 32;
  }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

struct LadderProbe {
  using Phase = CoordinatorMachine::Phase;
  static Phase phase(const CoordinatorMachine& one) { return one.phase_; }
  static bool on_a_rung(const CoordinatorMachine& one) { return one.phase_ == Phase::kRung; }
  static bool has_ended(const CoordinatorMachine& one) { return one.phase_ >= Phase::kGoodbye; }
  static bool is_finding(const CoordinatorMachine& one) { return one.phase_ == Phase::kFind; }
  static const Term& term(const MemberMachine& one) { return one.term_; }
  static std::uint64_t seq(const MemberMachine& one) { return one.seq_; }
  static TimeNs rung_deadline(const CoordinatorMachine& one) { return one.rung_deadline_; }

  // Of a member, without making a Standing.
  static Rung rung(const MemberMachine& one) { return one.rung_; }
  static std::uint64_t operation(const MemberMachine& one) { return one.operation_.id; }
  static std::uint32_t epoch(const MemberMachine& one) { return one.epoch_; }
  static bool joined(const MemberMachine& one) { return one.joined_; }
  static bool reached(const MemberMachine& one) { return one.reached_; }
  static bool acknowledged(const MemberMachine& one) { return one.acknowledged_; }
  static bool refused(const MemberMachine& one) { return one.refused_seq_ != 0; }
  static const Operation& whole_operation(const MemberMachine& one) { return one.operation_; }

  static void digest(const MemberMachine& one, Digest& out) {
    out.add(one.term_);
    for (const std::uint64_t word :
         {one.seq_, one.refused_seq_, one.operation_.id, std::uint64_t{one.epoch_}}) {
      out.add(word);
    }
    for (const bool bit :
         {one.joined_, one.ended_, one.reached_, one.acknowledged_, one.undoing_}) {
      out.add(bit);
    }
    out.add(one.rung_);
    out.add(one.rung_before_);
    out.add(one.objection_.empty());
    out.add(one.report_.refusal.empty());
  }

  static void digest(const CoordinatorMachine& one, Digest& out) {
    out.add(one.phase_);
    out.add(one.term_);
    out.add(one.raises_);
    out.add(one.order_.seq);
    out.add(one.order_.rung);
    out.add(one.order_.undoing);
    out.add(one.order_.operation.id);
    out.add(one.retract_to_ ? static_cast<int>(*one.retract_to_) : -1);
    out.add(one.why_undoing_);
    out.add(one.roster_.scans().wanted());
    out.add(one.outcome_.code);
    for (const auto& [member, entry] : one.roster_.entries()) {
      out.add(member.process);
      out.add(entry.answer.has_value());
      if (entry.answer) digest(*entry.answer, out);
    }
  }

  static void digest(const Standing& one, Digest& out) {
    out.add(one.term);
    for (const std::uint64_t word : {one.seq, one.refused_seq, one.operation.id}) out.add(word);
    for (const bool bit : {one.reached, one.undoing, one.joining, one.busy}) out.add(bit);
    out.add(one.rung);
  }
};

}  // namespace livebtl::control
