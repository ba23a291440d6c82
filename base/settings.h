// SPDX-License-Identifier: BSD-3-Clause
// base/settings.h -- every setting of the library: one table, read once, checked, printable.
//
// LIVEBTL_NAME in the environment, FI_LIVEBTL_NAME as a second spelling (LIVEBTL_NAME wins). Set to
// nothing counts as not set. Unknown LIVEBTL_* names are warned of with the nearest known one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <livebtl/result.h>

namespace livebtl {

enum class AuthLevel : std::uint8_t { kNone, kAuth };
// kNetwork: not between processes of one node
enum class CrcMode : std::uint8_t { kNetwork, kAlways, kNever };

struct Settings {
  // JOB: job id; empty: from the launcher, else the process id
  std::string job;
  // SIZE: processes in the job; 0: from the launcher, else 1
  std::uint32_t size = 0;
  // RUNDIR: run directory; empty: the first usable default
  std::string rundir;
  // SECRET_FD: descriptor to read the 32-byte job secret from
  int secret_fd = -1;
  std::string secret_file;  // SECRET_FILE: 0600 file with the job secret
  // TRANSPORTS: those compiled in by default; order means nothing
  std::vector<std::string> transports;
  // EXCLUDE: of these, those that stay closed until `btlctl add`; alike for the whole job
  std::vector<std::string> exclude;
  // TCP_IF: interfaces or CIDR networks; empty: all that are up
  std::vector<std::string> tcp_if;
  std::string verbs_device;  // VERBS_DEVICE: name[:port[:gid]]; empty: the first usable
  // OFI_PROVIDER: of libfabric's, beneath ofi; empty: the first that reaches other machines
  std::string ofi_provider;
  // HIDE_DEVICES: are RDMA devices hidden from libfabric's other providers? For provider/ alone
  bool hide_devices = true;
  std::uint16_t tcp_port = 0;             // TCP_PORT: listening port; 0: any
  bool relay = false;                     // RELAY: does a job of one node relay for those outside?
  std::string node;                       // NODE: node identity; empty: boot id and namespaces
  AuthLevel auth = AuthLevel::kAuth;      // AUTH: none | auth
  CrcMode crc = CrcMode::kNetwork;        // CRC: network | always | never
  std::uint32_t window_bytes = 1u << 20;  // WINDOW_BYTES: kept, unacknowledged bytes a peer
  // CREDIT_BYTES: unexpected payload a peer may have waiting here
  std::uint32_t credit_bytes = 1u << 20;
  // CREDIT_HEADERS: unexpected messages a peer may have waiting here
  std::uint32_t credit_headers = 4096;
  // OPERATIONS: accepted and not yet complete sends a port
  std::uint32_t operations_max = 65536;
  std::uint32_t sm_ring_bytes = 256u << 10;  // SM_RING_BYTES: shared-memory ring a direction
  // SM_SINGLE_COPY: are large payloads read straight out of the peer's memory, where that is
  // allowed?
  bool sm_single_copy = true;
  // PROBE_MS: silence after which a path with unacknowledged frames is probed
  std::uint32_t probe_ms = 2000;
  // DEAD_MS: delay before operations on a proved-dead peer fail
  std::uint32_t dead_ms = 500;
  // LINGER_MS: how long a process that ends waits for peers to take what it sent; -1: until they
  // have, or are proved dead
  int linger_ms = -1;
  // AWAY_US: time without a call after which the agent moves the engine
  std::uint32_t away_us = 1000;
  bool returns = true;             // RETURN: are transports used again by themselves after a loss?
  bool takeover = true;            // TAKEOVER: does the job finish what a killed btlctl has left?
  std::string log_level = "warn";  // LOG: error | warn | info | debug
};

struct SettingInfo {
  std::string_view name;      // without prefix
  std::string_view type;      // "bytes", "count", "list", "string", "ms", ...
  std::string_view fallback;  // default, as one would write it
  std::string_view meaning;
};

/// All settings, in the order of the manual page.
std::span<const SettingInfo> setting_table() noexcept;

/// lookup: a variable's value by its whole name. Errors: kInvalid with the variable, the value and
/// what it takes.
Result<Settings> read_settings(
    const std::function<std::optional<std::string>(std::string_view)>& lookup);
/// From the process's environment; warns of unknown names.
Result<Settings> read_settings_from_environment();
/// The warning if `variable` looks like a setting, in either spelling, and is none.
std::optional<std::string> unknown_setting_warning(std::string_view variable);

}  // namespace livebtl
