// SPDX-License-Identifier: BSD-3-Clause
// transports/verbs/verbs_nearness.cc -- see verbs_nearness.h.
#include "transports/verbs/verbs_nearness.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "base/text_file.h"

namespace livebtl::verbs {
namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t kNear = 10;
constexpr std::size_t kFileBytesMax = std::size_t{64} << 10;
constexpr unsigned kProcessorsMax = 1u << 16;

std::string first_line(const std::string& path) {
  const auto text = read_text(path, kFileBytesMax);
  return text ? text->substr(0, text->find('\n')) : "";
}

/// By length, then alphabetically: mlx5_2 before mlx5_10.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename());
  std::sort(names.begin(), names.end(), [](const std::string& one, const std::string& other) {
    return one.size() != other.size() ? one.size() < other.size() : one < other;
  });
  return names;
}

/// "0-3,8" as the kernel writes it.
bool holds_any(const std::string& list, const std::set<unsigned>& processors) {
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = std::min(range.find('-'), range.size());
    const auto first = parse_number<unsigned>(std::string_view(range).substr(0, dash));
    const auto last = dash == range.size()
                          ? first
                          : parse_number<unsigned>(std::string_view(range).substr(dash + 1));
    if (!first || !last) continue;
    const auto at = processors.lower_bound(*first);
    if (at != processors.end() && *at <= *last) return true;
  }
  return false;
}

/// The node's distances from all nodes, in their order.
std::vector<unsigned> distances_of(const std::string& node) {
  std::istringstream line(first_line(node + "/distance"));
  std::vector<unsigned> distances;
  for (unsigned each = 0; line >> each;) distances.push_back(each);
  return distances;
}

/// The numbers of the nodes, as the kernel orders them.
std::vector<unsigned> nodes_in(const std::string& folder) {
  std::vector<unsigned> nodes;
  for (const std::string& name : names_in(folder)) {
    const auto number = name.starts_with("node")
                            ? parse_number<unsigned>(std::string_view(name).substr(4))
                            : std::nullopt;
    if (number) nodes.push_back(*number);
  }
  return nodes;
}

}  // namespace

std::vector<ListedPort> listed_ports(const std::string& system_files) {
  constexpr const char* kIwarp = "4: RNIC";
  std::vector<ListedPort> ports;
  const std::string folder = system_files + "/class/infiniband/";
  for (const std::string& device : names_in(folder)) {
    if (first_line(folder + device + "/node_type") == kIwarp) continue;
    for (const std::string& number : names_in(folder + device + "/ports")) {
      const auto port = parse_number<std::uint8_t>(number);
      if (!port || *port == 0) continue;
      const std::string state = first_line(folder + device + "/ports/" + number + "/state");
      ports.push_back({device, *port, state == "4: ACTIVE"});
    }
  }
  return ports;
}

std::set<unsigned> bound_processors() {
  std::set<unsigned> processors;
  for (unsigned room = CPU_SETSIZE; room <= kProcessorsMax; room *= 2) {
    cpu_set_t* const set = CPU_ALLOC(room);
    if (set == nullptr) return processors;
    const std::size_t bytes = CPU_ALLOC_SIZE(room);
    const bool told = ::sched_getaffinity(0, bytes, set) == 0;
    for (unsigned each = 0; told && each < room; ++each) {
      if (CPU_ISSET_S(each, bytes, set)) processors.insert(each);
    }
    CPU_FREE(set);
    if (told) break;  // else the machine has more processors than there is room for
  }
  return processors;
}

std::uint8_t distance_of(const std::string& system_files, const std::string& device,
                         const std::set<unsigned>& processors) {
  const auto home = parse_number<unsigned>(
      first_line(system_files + "/class/infiniband/" + device + "/device/numa_node"));
  if (!home) return kNear;  // "-1", or no such file: unknown
  const std::string folder = system_files + "/devices/system/node";
  const std::vector<unsigned> nodes = nodes_in(folder);
  const auto at = std::find(nodes.begin(), nodes.end(), *home) - nodes.begin();
  std::optional<unsigned> nearest;
  for (const unsigned node : nodes) {
    const std::string place = folder + "/node" + std::to_string(node);
    if (!holds_any(first_line(place + "/cpulist"), processors)) continue;
    const std::vector<unsigned> distances = distances_of(place);
    if (static_cast<std::size_t>(at) >= distances.size()) continue;
    const unsigned distance = distances[static_cast<std::size_t>(at)];
    nearest = std::min(nearest.value_or(distance), distance);
  }
  return static_cast<std::uint8_t>(std::min(nearest.value_or(kNear), 255U));
}

}  // namespace livebtl::verbs
