// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/vm/card.cc -- see card.h.
#include "hypervisor/vm/card.h"

#include "base/text.h"

namespace livebtl::hypervisor {
namespace {

constexpr std::size_t kIdBytesMax = 100;

}  // namespace

bool well_formed_id(const std::string& id) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return id.size() <= kIdBytesMax && is_plain_name(id) && letter(id.front());
}

Result<Json> read_card_arguments(const std::string& text) {
  Json arguments = Json::parse(text, nullptr, false);
  if (!arguments.is_object() || text_member(arguments, "driver").empty() ||
      !well_formed_id(text_member(arguments, "id"))) {
    return fail(
        Errc::kInvalid,
        "not what device_add takes: one JSON object with driver and id, "
        "such as "
        "{\"driver\":\"vfio-pci\",\"id\":\"hca\",\"bus\":\"port1\",\"host\":\"0000:3b:00.2\"}");
  }
  for (const auto& [name, value] : arguments.items()) {
    if (!value.is_primitive() || value.is_null())
      return fail(Errc::kInvalid, "--card-args: '" + one_line(name) + "' is not a plain value");
  }
  return arguments;
}

}  // namespace livebtl::hypervisor
