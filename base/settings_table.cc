// SPDX-License-Identifier: BSD-3-Clause
// base/settings_table.cc -- the settings, each with the check of its value. Hostile input until it
// has passed here. Any thread; constant data and pure functions.
#include "base/settings.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/transport_name.h"

namespace livebtl {
namespace {

constexpr std::size_t kListMax = 64;

bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// A name becomes a file's name: no path, nothing hidden.
template <std::string Settings::*kMember>
Status set_name(Settings& settings, std::string_view value) {
  if (value.size() > 64 || value.starts_with('.') || !std::ranges::all_of(value, is_name_char))
    return fail(Errc::kInvalid,
                "it takes at most 64 letters, digits, '.', '_', '-', and no '.' in front");
  settings.*kMember = value;
  return {};
}

template <std::string Settings::*kMember>
Status set_path(Settings& settings, std::string_view value) {
  if (value.size() > 4096 || !(value.empty() || value.starts_with('/')) ||
      value.find('\0') != std::string_view::npos)
    return fail(Errc::kInvalid, "it takes a path that begins with /");
  settings.*kMember = value;
  return {};
}

// The transports know which devices and providers exist; here only the alphabet is checked.
Status set_beneath(std::string& target, std::string_view value, char beside, const char* takes) {
  const auto good = [beside](char c) { return is_name_char(c) || c == beside; };
  if (value.size() > 64 || !std::ranges::all_of(value, good)) return fail(Errc::kInvalid, takes);
  target = value;
  return {};
}
Status set_device(Settings& s, std::string_view v) {
  return set_beneath(s.verbs_device, v, ':',
                     "it takes a device, as in mlx5_0, mlx5_0:1 or mlx5_0:1:3");
}
Status set_provider(Settings& s, std::string_view v) {
  return set_beneath(s.ofi_provider, v, ';', "it takes a provider, as in shm or \"tcp;ofi_rxm\"");
}

template <auto kMember, auto kLow, auto kHigh>
Status set_number(Settings& settings, std::string_view value) {
  const auto parsed = parse_number<std::remove_reference_t<decltype(settings.*kMember)>>(value);
  if (!parsed || std::cmp_less(*parsed, kLow) || std::cmp_greater(*parsed, kHigh))
    return fail(Errc::kInvalid,
                "it takes a number from " + std::to_string(kLow) + " to " + std::to_string(kHigh));
  settings.*kMember = *parsed;
  return {};
}

// 65536, 64K, 1M, 1G: powers of 1024.
template <std::uint32_t Settings::*kMember, std::uint32_t kLow>
Status set_bytes(Settings& settings, std::string_view value) {
  constexpr std::uint32_t kHigh = 1u << 30;
  constexpr std::string_view kUnits = "KMG";
  const std::size_t unit = value.empty() ? kUnits.npos : kUnits.find(value.back());
  if (unit != kUnits.npos) value.remove_suffix(1);
  const auto parsed = parse_number<std::uint32_t>(value);
  const std::uint64_t bytes = std::uint64_t{parsed.value_or(0)}
                              << (unit != kUnits.npos ? 10 * (unit + 1) : 0);
  if (!parsed || bytes < kLow || bytes > kHigh)
    return fail(Errc::kInvalid, "it takes bytes from " + std::to_string(kLow) + " to " +
                                    std::to_string(kHigh) + ", as in 65536, 64K or 1M");
  settings.*kMember = static_cast<std::uint32_t>(bytes);
  return {};
}

Status set_list(std::vector<std::string>& target, std::string_view value,
                bool (*is_good)(std::string_view), const char* takes) {
  std::vector<std::string> items;
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view item = value.substr(0, comma);
    if (!is_good(item) || items.size() == kListMax || comma + 1 == value.size())
      return fail(Errc::kInvalid, takes);
    items.emplace_back(item);
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  target = std::move(items);
  return {};
}

Status set_excluded(Settings& settings, std::string_view value) {
  return set_list(settings.exclude, value, is_transport_name,
                  "it takes transports' names, as in sm,tcp");
}

bool is_added_transport(std::string_view item) noexcept {
  return item.starts_with('+') && is_transport_name(item.substr(1));
}
Status set_transports(Settings& settings, std::string_view value) {
  const bool added = value.starts_with('+');
  if (Status read =
          set_list(settings.transports, value, added ? is_added_transport : is_transport_name,
                   "it takes transports' names, as in sm,tcp, or what is used beside all "
                   "others, as in +verbs");
      !read)
    return read;
  settings.transports_beside_default = added;
  for (std::string& name : settings.transports) name.erase(0, added ? 1 : 0);
  return {};
}

// The tcp transport knows which interfaces and networks exist; here only the alphabet is checked.
bool is_interface_or_network(std::string_view item) noexcept {
  return !item.empty() && item.size() <= 64 && std::ranges::all_of(item, [](char c) {
    return is_name_char(c) || c == ':' || c == '/' || c == '@';
  });
}
Status set_tcp_if(Settings& s, std::string_view v) {
  return set_list(s.tcp_if, v, is_interface_or_network,
                  "it takes interfaces or networks, as in eth0,10.1.0.0/16");
}

template <class Value>
using Word = std::pair<std::string_view, Value>;

constexpr Word<bool> kOnOrOff[] = {{"on", true}, {"off", false}};
constexpr Word<bool> kOnOrAuto[] = {{"on", true}, {"auto", false}};
constexpr Word<bool> kAutoOrOff[] = {{"auto", true}, {"off", false}};
constexpr Word<SingleCopy> kSingleCopies[] = {
    {"auto", SingleCopy::kAuto}, {"cma", SingleCopy::kCma}, {"none", SingleCopy::kNone}};
constexpr Word<AuthLevel> kAuthLevels[] = {{"none", AuthLevel::kNone}, {"auth", AuthLevel::kAuth}};
constexpr Word<CrcMode> kCrcModes[] = {
    {"network", CrcMode::kNetwork}, {"always", CrcMode::kAlways}, {"never", CrcMode::kNever}};
constexpr Word<LogLevel> kLogLevels[] = {{"error", LogLevel::kError},
                                         {"warn", LogLevel::kWarn},
                                         {"info", LogLevel::kInfo},
                                         {"debug", LogLevel::kDebug}};

template <auto kMember, const auto& kWords>
Status set_word(Settings& settings, std::string_view value) {
  std::string takes = "it takes one of:";
  for (const auto& [word, meant] : kWords) {
    if (word == value) {
      settings.*kMember = meant;
      return {};
    }
    takes += " " + std::string(word);
  }
  return fail(Errc::kInvalid, takes);
}

constexpr SettingInfo kSettingTable[] = {
    {"JOB", "name", "", "job id; empty: from the launcher, else the process id",
     set_name<&Settings::job>},
    {"SIZE", "count", "0", "processes in the job; 0: from the launcher, else 1",
     set_number<&Settings::size, 0, 1u << 20>},
    {"RUNDIR", "path", "", "run directory; empty: the first usable default",
     set_path<&Settings::rundir>},
    {"SECRET_FD", "count", "-1", "descriptor to read the job secret from; -1: none",
     set_number<&Settings::secret_fd, -1, 1 << 20>},
    {"SECRET_FILE", "path", "", "file of mode 0600 with the job secret",
     set_path<&Settings::secret_file>},
    {"TRANSPORTS", "list", "",
     "transports to use, ofi:PROVIDER too; empty: all, verbs and ofi once they are added; +verbs: "
     "the same, and verbs from the start wherever there is a device",
     set_transports},
    {"EXCLUDE", "list", "", "transports that stay closed until btlctl add; alike in all processes",
     set_excluded},
    {"TCP_IF", "list", "",
     "interfaces or networks tcp uses; empty: all that are up, but loopback alone while all of the "
     "job "
     "is on one node",
     set_tcp_if},
    {"TCP_PORT", "count", "0", "port tcp listens on; 0: any",
     set_number<&Settings::tcp_port, 0, 65535>},
    {"VERBS_DEVICE", "name", "",
     "RDMA device that verbs uses, as in mlx5_0, mlx5_0:1 (port) or mlx5_0:1:3 (address); empty: "
     "the first that can be used",
     set_device},
    {"OFI_PROVIDER", "name", "",
     "provider of libfabric's that ofi uses, as fi_info -t FI_EP_RDM shows them: tcp;ofi_rxm, "
     "verbs;ofi_rxm, shm; empty: the first that reaches other machines",
     set_provider},
    {"HIDE_DEVICES", "word", "on",
     "on or off: in a job, libfabric's other providers find no RDMA devices; else they hold them "
     "open",
     set_word<&Settings::hide_devices, kOnOrOff>},
    {"RELAY", "word", "auto",
     "auto or on: can btlctl --connect reach a job of one node too? One of several nodes it can",
     set_word<&Settings::relay, kOnOrAuto>},
    {"RELAY_PATH", "path", "",
     "the program livebtl-relay; empty: livebtl/livebtl-relay beside the library",
     set_path<&Settings::relay_path>},
    {"NODE", "name", "", "node identity; empty: boot id and namespaces", set_name<&Settings::node>},
    {"AUTH", "word", "auth", "none or auth: do peers prove that they know the job secret?",
     set_word<&Settings::auth, kAuthLevels>},
    {"CRC", "word", "network", "payload checksums: network (not within a node), always, never",
     set_word<&Settings::crc, kCrcModes>},
    {"WINDOW_BYTES", "bytes", "1M", "kept, unacknowledged bytes a peer",
     set_bytes<&Settings::window_bytes, 65536>},
    {"CREDIT_BYTES", "bytes", "1M", "unexpected payload that a peer may have waiting here",
     set_bytes<&Settings::credit_bytes, 65536>},
    {"CREDIT_HEADERS", "count", "4096", "unexpected messages that a peer may have waiting here",
     set_number<&Settings::credit_headers, 16, 1u << 24>},
    {"OPERATIONS", "count", "65536", "sends and one-sided operations a port may have open",
     set_number<&Settings::operations_max, 16, 1u << 24>},
    {"SM_RING_BYTES", "bytes", "256K", "shared-memory ring a direction",
     set_bytes<&Settings::sm_ring_bytes, 16384>},
    {"SM_SINGLE_COPY", "word", "auto",
     "are large payloads over shared memory read out of the peer, where it allows? cma: yes; none: "
     "no; auto: where that is measured to be faster than two copies",
     set_word<&Settings::sm_single_copy, kSingleCopies>},
    {"BOX_AFTER", "count", "16",
     "small messages to a process over shared memory, after which they go by a fast box; 0: never",
     set_number<&Settings::box_after, 0, 1u << 30>},
    {"BOXES", "count", "32", "fast boxes that this process looks at in every round, one a sender",
     set_number<&Settings::boxes_max, 0, 1u << 16>},
    {"PROBE_MS", "ms", "2000", "silence after which a path with unacknowledged frames is probed",
     set_number<&Settings::probe_ms, 10, 3'600'000>},
    {"DEAD_MS", "ms", "500", "delay before operations on a peer that is proved dead fail",
     set_number<&Settings::dead_ms, 0, 3'600'000>},
    {"LINGER_MS", "ms", "-1",
     "how long a process that ends waits for its peers to take what it sent; -1: until they have, "
     "or are proved dead",
     set_number<&Settings::linger_ms, -1, 86'400'000>},
    {"AWAY_US", "us", "1000",
     "time without a call, once or twice, after which the agent moves the engine",
     set_number<&Settings::away_us, 10, 1'000'000>},
    {"RETURN", "word", "auto",
     "auto or off: is a transport that was lost used again by itself? Else after btlctl add",
     set_word<&Settings::returns, kAutoOrOff>},
    {"TAKEOVER", "word", "on",
     "on or off: after some seconds the job finishes by itself what a killed btlctl has left",
     set_word<&Settings::takeover, kOnOrOff>},
    {"LOG", "word", "warn", "error, warn, info or debug: what is written to stderr",
     set_word<&Settings::log_level, kLogLevels>},
};

}  // namespace

std::span<const SettingInfo> setting_table() noexcept { return kSettingTable; }

}  // namespace livebtl
