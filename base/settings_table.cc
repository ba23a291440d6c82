// SPDX-License-Identifier: BSD-3-Clause
// base/settings_table.cc -- the settings, each with the check of its value. Hostile input until it
// has passed here. Any thread; constant data and pure functions.
#include "base/settings_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/transport_name.h"

namespace livebtl {
namespace {

constexpr std::size_t kListMax = 64;

bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// A name becomes a file's name: no path, nothing hidden.
Status set_name(std::string& target, std::string_view value) {
  if (value.size() > 64 || value.starts_with('.') || !std::ranges::all_of(value, is_name_char))
    return fail(Errc::kInvalid,
                "it takes at most 64 letters, digits, '.', '_', '-', and no '.' in front");
  target = value;
  return {};
}

Status set_path(std::string& target, std::string_view value) {
  if (value.size() > 4096 || !(value.empty() || value.starts_with('/')) ||
      value.find('\0') != std::string_view::npos)
    return fail(Errc::kInvalid, "it takes a path that begins with /");
  target = value;
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

template <class Number>
Status out_of_range(Number low, Number high) {
  return fail(Errc::kInvalid,
              "it takes a number from " + std::to_string(low) + " to " + std::to_string(high));
}

template <class Number>
Status set_number(Number& target, std::string_view value, Number low, Number high) {
  Number parsed{};
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, parsed);
  if (error != std::errc{} || stop != end || parsed < low || parsed > high)
    return out_of_range(low, high);
  target = parsed;
  return {};
}

// 65536, 64K, 1M, 1G: powers of 1024.
Status set_bytes(std::uint32_t& target, std::string_view value, std::uint32_t low,
                 std::uint32_t high) {
  constexpr std::string_view kUnits = "KMG";
  std::uint32_t shift = 0;
  if (!value.empty()) {
    const std::size_t unit = kUnits.find(value.back());
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<std::uint32_t>(unit) + 1);
      value.remove_suffix(1);
    }
  }
  std::uint64_t count = 0;
  if (!set_number<std::uint64_t>(count, value, 0, std::numeric_limits<std::uint32_t>::max()) ||
      (count << shift) < low || (count << shift) > high)
    return fail(Errc::kInvalid, "it takes bytes from " + std::to_string(low) + " to " +
                                    std::to_string(high) + ", as in 65536, 64K or 1M");
  target = static_cast<std::uint32_t>(count << shift);
  return {};
}

template <class IsGood>
Status set_list(std::vector<std::string>& target, std::string_view value, IsGood is_good,
                const char* takes) {
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

// The tcp transport knows which interfaces and networks exist; here only the alphabet is checked.
bool is_interface_or_network(std::string_view item) noexcept {
  return !item.empty() && item.size() <= 64 && std::ranges::all_of(item, [](char c) {
    return is_name_char(c) || c == ':' || c == '/' || c == '@';
  });
}

template <class Value>
struct Word {
  std::string_view word;
  Value value;
};

template <class Value, std::size_t kCount>
Status set_word(Value& target, std::string_view value, const Word<Value> (&words)[kCount]) {
  std::string takes = "it takes one of:";
  for (const Word<Value>& each : words) {
    if (each.word == value) {
      target = each.value;
      return {};
    }
    takes += " " + std::string(each.word);
  }
  return fail(Errc::kInvalid, takes);
}

Status set_auth(Settings& s, std::string_view v) {
  return set_word<AuthLevel>(s.auth, v, {{"none", AuthLevel::kNone}, {"auth", AuthLevel::kAuth}});
}
Status set_crc(Settings& s, std::string_view v) {
  return set_word<CrcMode>(
      s.crc, v,
      {{"network", CrcMode::kNetwork}, {"always", CrcMode::kAlways}, {"never", CrcMode::kNever}});
}
Status set_log(Settings& s, std::string_view v) {
  return set_word<std::string>(
      s.log_level, v, {{"error", "error"}, {"warn", "warn"}, {"info", "info"}, {"debug", "debug"}});
}
Status set_transports(std::vector<std::string>& names, std::string_view v) {
  return set_list(names, v, is_transport_name, "it takes transports' names, as in sm,tcp");
}
Status set_either(bool& target, std::string_view v, std::string_view yes, std::string_view no) {
  return set_word<bool>(target, v, {{yes, true}, {no, false}});
}
Status set_tcp_if(Settings& s, std::string_view v) {
  return set_list(s.tcp_if, v, is_interface_or_network,
                  "it takes interfaces or networks, as in eth0,10.1.0.0/16");
}

Status set_count(std::uint32_t& target, std::string_view v, std::uint32_t low, std::uint32_t high) {
  return set_number<std::uint32_t>(target, v, low, high);
}

constexpr std::uint32_t kGiB = 1u << 30;

constexpr SettingEntry kEntries[] = {
    {{"JOB", "name", "", "job id; empty: from the launcher, else the process id"},
     [](Settings& s, std::string_view v) { return set_name(s.job, v); }},
    {{"SIZE", "count", "0", "processes in the job; 0: from the launcher, else 1"},
     [](Settings& s, std::string_view v) { return set_count(s.size, v, 0, 1u << 20); }},
    {{"RUNDIR", "path", "", "run directory; empty: the first usable default"},
     [](Settings& s, std::string_view v) { return set_path(s.rundir, v); }},
    {{"SECRET_FD", "count", "-1", "descriptor to read the job secret from; -1: none"},
     [](Settings& s, std::string_view v) { return set_number<int>(s.secret_fd, v, -1, 1 << 20); }},
    {{"SECRET_FILE", "path", "", "file of mode 0600 with the job secret"},
     [](Settings& s, std::string_view v) { return set_path(s.secret_file, v); }},
    {{"TRANSPORTS", "list", "",
      "transports to use, ofi:PROVIDER too; empty: all, verbs and ofi once they are added"},
     [](Settings& s, std::string_view v) { return set_transports(s.transports, v); }},
    {{"EXCLUDE", "list", "",
      "transports that stay closed until btlctl add; alike in all processes"},
     [](Settings& s, std::string_view v) { return set_transports(s.exclude, v); }},
    {{"TCP_IF", "list", "", "interfaces or networks tcp uses; empty: all that are up"}, set_tcp_if},
    {{"TCP_PORT", "count", "0", "port tcp listens on; 0: any"},
     [](Settings& s, std::string_view v) {
       return set_number<std::uint16_t>(s.tcp_port, v, 0, 65535);
     }},
    {{"VERBS_DEVICE", "name", "",
      "RDMA device that verbs uses, as in mlx5_0, mlx5_0:1 (port) or mlx5_0:1:3 (address); empty: "
      "the first that can be used"},
     set_device},
    {{"OFI_PROVIDER", "name", "",
      "provider of libfabric's that ofi uses, as fi_info -t FI_EP_RDM shows them: tcp;ofi_rxm, "
      "verbs;ofi_rxm, shm; empty: the first that reaches other machines"},
     set_provider},
    {{"HIDE_DEVICES", "word", "on",
      "on or off: in a job, libfabric's other providers find no RDMA devices; else they hold them "
      "open"},
     [](Settings& s, std::string_view v) { return set_either(s.hide_devices, v, "on", "off"); }},
    {{"RELAY", "word", "auto",
      "auto or on: can btlctl --connect reach a job of one node too? One of several nodes it can"},
     [](Settings& s, std::string_view v) { return set_either(s.relay, v, "on", "auto"); }},
    {{"NODE", "name", "", "node identity; empty: boot id and namespaces"},
     [](Settings& s, std::string_view v) { return set_name(s.node, v); }},
    {{"AUTH", "word", "auth", "none or auth: do peers prove that they know the job secret?"},
     set_auth},
    {{"CRC", "word", "network", "payload checksums: network (not within a node), always, never"},
     set_crc},
    {{"WINDOW_BYTES", "bytes", "1M", "kept, unacknowledged bytes a peer"},
     [](Settings& s, std::string_view v) { return set_bytes(s.window_bytes, v, 65536, kGiB); }},
    {{"CREDIT_BYTES", "bytes", "1M", "unexpected payload that a peer may have waiting here"},
     [](Settings& s, std::string_view v) { return set_bytes(s.credit_bytes, v, 65536, kGiB); }},
    {{"CREDIT_HEADERS", "count", "4096", "unexpected messages that a peer may have waiting here"},
     [](Settings& s, std::string_view v) { return set_count(s.credit_headers, v, 16, 1u << 24); }},
    {{"OPERATIONS", "count", "65536", "sends and one-sided operations a port may have open"},
     [](Settings& s, std::string_view v) { return set_count(s.operations_max, v, 16, 1u << 24); }},
    {{"SM_RING_BYTES", "bytes", "256K", "shared-memory ring a direction"},
     [](Settings& s, std::string_view v) { return set_bytes(s.sm_ring_bytes, v, 16384, kGiB); }},
    {{"SM_SINGLE_COPY", "word", "cma",
      "cma or none: are large payloads over shared memory read out of the peer, where it allows?"},
     [](Settings& s, std::string_view v) {
       return set_either(s.sm_single_copy, v, "cma", "none");
     }},
    {{"PROBE_MS", "ms", "2000", "silence after which a path with unacknowledged frames is probed"},
     [](Settings& s, std::string_view v) { return set_count(s.probe_ms, v, 10, 3'600'000); }},
    {{"DEAD_MS", "ms", "500", "delay before operations on a peer that is proved dead fail"},
     [](Settings& s, std::string_view v) { return set_count(s.dead_ms, v, 0, 3'600'000); }},
    {{"LINGER_MS", "ms", "-1",
      "how long a process that ends waits for its peers to take what it sent; -1: until they have, "
      "or are proved dead"},
     [](Settings& s, std::string_view v) {
       return set_number<int>(s.linger_ms, v, -1, 86'400'000);
     }},
    {{"AWAY_US", "us", "1000", "time without a call after which the agent moves the engine"},
     [](Settings& s, std::string_view v) { return set_count(s.away_us, v, 10, 1'000'000); }},
    {{"RETURN", "word", "auto",
      "auto or off: is a transport that was lost used again by itself? Else after btlctl add"},
     [](Settings& s, std::string_view v) { return set_either(s.returns, v, "auto", "off"); }},
    {{"TAKEOVER", "word", "on",
      "on or off: after some seconds the job finishes by itself what a killed btlctl has left"},
     [](Settings& s, std::string_view v) { return set_either(s.takeover, v, "on", "off"); }},
    {{"LOG", "word", "warn", "error, warn, info or debug: what is written to stderr"}, set_log},
};

}  // namespace

std::span<const SettingEntry> setting_entries() noexcept { return kEntries; }

std::span<const SettingInfo> setting_table() noexcept {
  static constexpr auto kInfos = [] {
    std::array<SettingInfo, std::size(kEntries)> infos{};
    for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kEntries[i].info;
    return infos;
  }();
  return kInfos;
}

}  // namespace livebtl
