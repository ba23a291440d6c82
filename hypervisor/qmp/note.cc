// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/qmp/note.cc -- see note.h.
#include "hypervisor/qmp/note.h"

#include <algorithm>

namespace livebtl::hypervisor {
namespace {

constexpr const char* kObjects = "/objects";

}  // namespace

bool said_no(const Error& error) noexcept {
  return error.code == Errc::kRefused || error.code == Errc::kNotFound;
}

Result<bool> is_listed(Qmp& qmp, const std::string& path, const std::string& name,
                       const Deadline& deadline) {
  const auto list = qmp.execute("qom-list", {{"path", path}}, deadline);
  if (!list) return tl::unexpected(list.error());
  if (!list->is_array()) return fail(Errc::kCorrupt, "QEMU gives no list of " + path);
  return std::any_of(list->begin(), list->end(),
                     [&name](const Json& each) { return text_member(each, "name") == name; });
}

Status delete_object(Qmp& qmp, const std::string& id, const Deadline& deadline) {
  const auto there = is_listed(qmp, kObjects, id, deadline);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return {};
  return qmp.tell("object-del", {{"id", id}}, deadline);
}

Status keep_note(Qmp& qmp, const std::string& name, const std::string& text,
                 const Deadline& deadline) {
  if (auto old = delete_object(qmp, name, deadline); !old) return old;
  return qmp.tell("object-add", {{"qom-type", "secret"}, {"id", name}, {"data", text}}, deadline);
}

Result<std::string> read_note(Qmp& qmp, const std::string& name, const Deadline& deadline) {
  const auto text = qmp.execute(
      "qom-get", {{"path", std::string(kObjects) + "/" + name}, {"property", "data"}}, deadline);
  if (!text && !said_no(text.error())) return tl::unexpected(text.error());
  return text && text->is_string() ? text->get<std::string>() : std::string();
}

}  // namespace livebtl::hypervisor
