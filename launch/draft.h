// SPDX-License-Identifier: BSD-3-Clause
// launch/draft.h -- a plan in the making (plan.h), to which each MPI's needs are added. Only for
// launch/.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/plan.h"

namespace livebtl::launch {

/// Prefix of variables that set Open MPI's parameters.
inline constexpr std::string_view kMca = "OMPI_MCA_";

/// What is examined, and what is to be set.
struct Draft {
  const System& system;
  const Places& places;
  const std::vector<std::string>& words;
  const Wishes& wishes;
  Plan plan = {};

  void set(std::string name, std::string value) {
    plan.variables.emplace_back(std::move(name), std::move(value));
  }
};

/// Adds what the line's MPI needs to reach livebtl by the door chosen for it. info: path of that
/// Open MPI's ompi_info; "": there is none.
Status draft_for_open_mpi(Draft& draft, const std::string& info);
Status draft_for_hydra(Draft& draft);
Status draft_for_slurm(Draft& draft);

}  // namespace livebtl::launch
