// SPDX-License-Identifier: BSD-3-Clause
// tests/install/abi_probe.cc -- compiled, and never called: its debugging information has the layout and the tables of
// calls of all that users of the library see, for tests/install/abi.
#include <livebtl/engine.h>

namespace livebtl {

__attribute__((visibility("default"))) Engine* abi_of_engine(Engine& engine) { return &engine; }
__attribute__((visibility("default"))) Port* abi_of_port(Port& port) { return &port; }

}  // namespace livebtl
