// SPDX-License-Identifier: BSD-3-Clause
// launch/line_words.h -- what the words of a launch line give the program: Open MPI's parameters
// and environment variables. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace livebtl::launch {

/// The value that the line itself gives an Open MPI parameter; it overrides a variable.
std::optional<std::string> mca_in_line(const std::vector<std::string>& words,
                                       std::string_view name);

/// The value that the line gives a variable of the program: -x NAME=VALUE of Open MPI, -genv and
/// -env NAME VALUE of Hydra. It overrides ours.
std::optional<std::string> variable_in_line(const std::vector<std::string>& words,
                                            std::string_view name);

/// The word of Hydra's that keeps our variables from the program; "": there is none.
std::string withholding_word(const std::vector<std::string>& words);

/// The value of srun's last --export; nullopt: there is none.
std::optional<std::string> srun_export(const std::vector<std::string>& words);

/// Does that value, or SLURM_EXPORT_ENV's, let the program have all variables?
bool exports_all(std::string_view value);

}  // namespace livebtl::launch
