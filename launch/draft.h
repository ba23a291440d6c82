// SPDX-License-Identifier: BSD-3-Clause
// launch/draft.h -- a plan in the making (plan.h): what each MPI needs is added to it. Inside of launch/ alone.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/plan.h"

namespace livebtl::launch {

/// Of the variables that are parameters of Open MPI.
inline constexpr std::string_view kMca = "OMPI_MCA_";

/// What is looked at, and what is to be set.
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

/// What the MPI of the line needs to reach livebtl, by the door that is chosen for it. info: path of the ompi_info of
/// that Open MPI; "": there is none.
Status draft_for_open_mpi(Draft& draft, const std::string& info);
Status draft_for_hydra(Draft& draft);
Status draft_for_slurm(Draft& draft);

}  // namespace livebtl::launch
