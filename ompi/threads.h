// SPDX-License-Identifier: BSD-3-Clause
// ompi/threads.h -- how many threads of the program call MPI at once. Where it is one, no atomic
// read-modify-write is needed between them; the agent, which ends operations too, is not counted.
#pragma once

#include <cstdint>

namespace livebtl::ompi {

enum class Threads : std::uint8_t { kOne, kSeveral };

}  // namespace livebtl::ompi
