// SPDX-License-Identifier: BSD-3-Clause
// kubevirt/guest_place.cc -- see guest_place.h.
#include "kubevirt/guest_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"

namespace livebtl::kubevirt {
namespace {

constexpr int kVmiDepthMax = 64;
constexpr std::size_t kNameBytesMax = 253;
constexpr std::size_t kPlaceBytesMax = 4096;

/// "": there is none, or Kubernetes would not take it as a name.
std::string name_in(const Json& metadata, const char* member) {
  const auto found = metadata.find(member);
  if (found == metadata.end() || !found->is_string()) return "";
  const auto& name = found->get_ref<const std::string&>();
  const bool good = is_plain_name(name) && name.size() <= kNameBytesMax && name.front() != '.' &&
                    name.front() != '-';
  return good ? name : "";
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

tl::unexpected<Error> place_error(const std::string& path) {
  return fail(errno == EACCES ? Errc::kAuth : Errc::kSystem, path + ": " + std::strerror(errno));
}

/// btlctl takes no link for a secret, but the directory of a Secret has only links. btlctl says if
/// nothing is there.
std::string without_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : path;
}

Result<GuestPlace> read_place(const std::string& text, const std::string& path) {
  const auto lines = lines_of(text);
  GuestPlace place;
  const bool by_agent = !lines.empty() && lines[0].starts_with("agent:/");
  const std::size_t needed = by_agent ? 1 : 2;
  if (lines.size() < needed || lines.size() > needed + 1)
    return fail(Errc::kInvalid,
                path +
                    ": it takes a relay's HOST:PORT and the path of the job's secret, or "
                    "agent:/PATH, a line each, and then, perhaps, the node's name");
  if (by_agent) {
    place.agent = lines[0].substr(6);
  } else {
    place.relay = lines[0];
    place.secret_file = without_links(lines[1]);
  }
  if (lines.size() > needed) place.node = lines.back();
  const bool plain = place.node.empty() || (is_plain_name(place.node) && place.node.front() != '-');
  if (!plain || (!by_agent && place.relay.front() == '-'))
    return fail(Errc::kInvalid, path + ": a relay or a node cannot be called so");
  return place;
}

}  // namespace

Result<std::string> domain_of(std::string_view vmi) {
  if (vmi.size() > kVmiBytesMax)
    return fail(Errc::kInvalid, "the VirtualMachineInstance is longer than 4 MiB");
  const auto json = parse_json(vmi, kVmiDepthMax);
  if (!json) return fail(Errc::kInvalid, "the VirtualMachineInstance: " + json.error().text);
  const auto metadata = json->is_object() ? json->find("metadata") : json->end();
  if (metadata == json->end() || !metadata->is_object())
    return fail(Errc::kInvalid, "the VirtualMachineInstance has no metadata");
  const std::string name = name_in(*metadata, "name"), space = name_in(*metadata, "namespace");
  if (name.empty() || space.empty())
    return fail(Errc::kInvalid, "the VirtualMachineInstance has no name and namespace");
  return space + "_" + name;
}

/// The directory of a Secret has links to its files: they are followed. Its owner is the mounter's
/// concern.
Result<std::optional<GuestPlace>> read_guest(const std::string& guests, const std::string& domain) {
  const std::string path = guests + "/" + domain;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::nullopt;
  struct stat facts {};
  if (!file || ::fstat(file.number(), &facts) != 0) return place_error(path);
  if (!S_ISREG(facts.st_mode) || (facts.st_mode & S_IWOTH) != 0)
    return fail(Errc::kAuth, path + ": it must be a plain file, and not writable by all");
  std::array<char, kPlaceBytesMax> text{};
  const ssize_t length = ::read(file.number(), text.data(), text.size());
  if (length < 0) return place_error(path);
  auto place = read_place({text.data(), static_cast<std::size_t>(length)}, path);
  if (!place) return tl::unexpected(place.error());
  return std::move(*place);
}

}  // namespace livebtl::kubevirt
