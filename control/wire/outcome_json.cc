// SPDX-License-Identifier: BSD-3-Clause
// control/wire/outcome_json.cc -- the outcome of a command as a JSON document.
#include "control/wire/fields.h"

namespace livebtl::control {

std::string outcome_json(const Outcome& outcome) {
  JsonWriter writer;
  writer.object["schema"] = "livebtl.outcome/1";
  writer("exit_code", static_cast<int>(outcome.code));
  fields(writer, outcome);
  return writer.object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace livebtl::control
