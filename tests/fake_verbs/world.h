// SPDX-License-Identifier: BSD-3-Clause
// tests/fake_verbs/world.h -- a fake fabric with two machines, one per process, each with one
// device or more; at its end nothing may be left over, and nothing may have overrun.
#pragma once

#include <doctest/doctest.h>

#include "tests/conformance/rig.h"
#include "tests/fake_verbs/fabric.h"
#include "transports/verbs/verbs_transport.h"

namespace livebtl::fake_verbs {

struct World {
  explicit World(bool lag = false) {
    fabric.lag = lag;
    for (Machine& machine : machines) {
      const std::string last = std::to_string(1 + (&machine - machines));
      adapters.push_back(&machine.add("fake0", {gid("::ffff:10.0.1." + last)}));
    }
  }
  ~World() {
    CHECK(fabric.faults() == Faults{});
    CHECK(fabric.alive() == 0);
  }

  /// Another device on each machine, on a fabric of its own.
  void add_device(const std::string& name) {
    const std::string net = std::to_string(1 + adapters.size() / 2);
    for (Machine& machine : machines) {
      const std::string last = std::to_string(1 + (&machine - machines));
      adapters.push_back(&machine.add(name, {gid("::ffff:10.0." + net + "." + last)}));
    }
  }
  /// Process 1 has the first machine.
  Result<std::unique_ptr<core::Transport>> make(std::uint64_t process, std::uint64_t node = 1,
                                                const verbs::Module& module = {}) {
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = node;
    facts.settings = &settings;
    auto made = verbs::VerbsTransport::make(facts, machines[process - 1], module);
    if (!made) return tl::unexpected(made.error());
    return std::unique_ptr<core::Transport>(std::move(*made));
  }
  conformance::Subject subject(bool one_node = true) {
    conformance::Subject subject;
    subject.name = "verbs";
    subject.make = [this, one_node](std::uint64_t process) {
      return make(process, one_node ? 1 : process);
    };
    return subject;
  }

  Settings settings;
  Fabric fabric;
  Machine machines[2]{Machine(fabric), Machine(fabric)};
  std::vector<Adapter*> adapters;
};

}  // namespace livebtl::fake_verbs
