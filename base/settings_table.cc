// SPDX-License-Identifier: BSD-3-Clause
// base/settings_table.cc -- the settings, each with its value check. Any thread; constant data.
#include "base/settings.h"

#include "base/settings_checks.h"

namespace livebtl {
namespace {

using namespace settings_checks;

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
    {"SEED", "secret", "",
     "64 random hexadecimal digits, the same in all processes of the job and known to nobody else; "
     "its secret is made from them, and its id if the launcher has none; livebtl-run sets it under "
     "MPICH's mpiexec and srun",
     set_seed},
    {"TRANSPORTS", "list", "",
     "transports to use, also ofi:PROVIDER; empty: all, verbs and ofi once they are added; +verbs: "
     "the same, but verbs from the start wherever there is a device",
     set_transports},
    {"EXCLUDE", "list", "",
     "transports that stay closed until btlctl add; the same in all processes", set_excluded},
    {"TCP_IF", "list", "",
     "interfaces or networks tcp uses; empty: all that are up, but only loopback while the whole "
     "job is on one node",
     set_tcp_if},
    {"TCP_PORT", "count", "0", "port tcp listens on; 0: any",
     set_number<&Settings::tcp_port, 0, 65535>},
    {"VERBS_DEVICE", "list", "",
     "RDMA devices that verbs uses, such as mlx5_0, mlx5_0:1 (port) or mlx5_0:1:3 (address); with "
     "several, such as mlx5_0,mlx5_1, each is its own transport, verbs:mlx5_0, or verbs:NAME for "
     "NAME=mlx5_0; auto: all active ports; empty: the first that can be used",
     set_device},
    {"OFI_PROVIDER", "name", "",
     "libfabric provider that ofi uses, as fi_info -t FI_EP_RDM shows them: tcp;ofi_rxm, "
     "verbs;ofi_rxm, shm; empty: the first that reaches other machines",
     set_provider},
    {"HIDE_DEVICES", "word", "on",
     "on or off: in a job, hide RDMA devices from libfabric's other providers, which would hold "
     "them open",
     set_word<&Settings::hide_devices, kOnOrOff>},
    {"RELAY", "word", "auto",
     "auto or on: with on, btlctl --connect can also reach a job of one node, not only of several",
     set_word<&Settings::relay, kOnOrAuto>},
    {"RELAY_PATH", "path", "",
     "the program livebtl-relay; empty: livebtl/livebtl-relay beside the library",
     set_path<&Settings::relay_path>},
    {"NODE", "name", "", "node identity; empty: boot id and namespaces", set_name<&Settings::node>},
    {"AUTH", "word", "auth", "none or auth: whether peers prove that they know the job secret",
     set_word<&Settings::auth, kAuthLevels>},
    {"CRC", "word", "network", "payload checksums: network (not within a node), always, never",
     set_word<&Settings::crc, kCrcModes>},
    {"WINDOW_BYTES", "bytes", "1M", "unacknowledged bytes kept per peer",
     set_bytes<&Settings::window_bytes, 65536>},
    {"CREDIT_BYTES", "bytes", "1M",
     "unexpected payload a peer may have waiting here, on top of UNEXPECTED_BYTES",
     set_bytes<&Settings::credit_bytes, 65536>},
    {"CREDIT_HEADERS", "count", "4096",
     "unexpected messages a peer may have waiting here, on top of UNEXPECTED_BYTES",
     set_number<&Settings::credit_headers, 16, 1u << 24>},
    {"UNEXPECTED_BYTES", "bytes", "1G",
     "memory of a process for unexpected messages of all peers, half of it for payload; beyond it "
     "a message waits at its sender until others are received; 0: what CREDIT_BYTES and "
     "CREDIT_HEADERS allow",
     set_bytes<&Settings::unexpected_bytes, 0, std::uint64_t{1} << 50>},
    {"OPERATIONS", "count", "65536", "sends and one-sided operations a port may have open",
     set_number<&Settings::operations_max, 16, 1u << 24>},
    {"SM_RING_BYTES", "bytes", "256K",
     "shared-memory ring per direction; whatever its size, a frame in it has at most 32K of "
     "payload, and a message that is sent at once 16K; at least 128K",
     set_bytes<&Settings::sm_ring_bytes, 131072>},
    {"SM_SINGLE_COPY", "word", "auto",
     "how large payloads over shared memory are read from the peer; cma: by process_vm_readv, "
     "where the kernel allows it; knem: by the driver of /dev/knem, where it is loaded; none: not "
     "at all; auto: by cma, or else by knem, where measured to be faster than two copies",
     set_word<&Settings::sm_single_copy, kSingleCopies>},
    {"BOX_AFTER", "count", "16",
     "small messages to a process over shared memory before they go by a fast box; 0: never",
     set_number<&Settings::box_after, 0, 1u << 30>},
    {"BOXES", "count", "32", "fast boxes that this process polls in every round, one per sender",
     set_number<&Settings::boxes_max, 0, 1u << 16>},
    {"PROBE_MS", "ms", "2000", "silence after which a path with unacknowledged frames is probed",
     set_number<&Settings::probe_ms, 10, 3'600'000>},
    {"DEAD_MS", "ms", "500", "delay before operations fail on a peer that is proved dead",
     set_number<&Settings::dead_ms, 0, 3'600'000>},
    {"LINGER_MS", "ms", "-1",
     "how long an ending process waits for its peers to take what it sent; -1: until they have, or "
     "are proved dead",
     set_number<&Settings::linger_ms, -1, 86'400'000>},
    {"AWAY_US", "us", "1000",
     "time without a call, up to twice this, after which the agent drives the engine",
     set_number<&Settings::away_us, 10, 1'000'000>},
    {"RETURN", "word", "auto",
     "auto or off: whether a lost transport is used again by itself, or only after btlctl add",
     set_word<&Settings::returns, kAutoOrOff>},
    {"TAKEOVER", "word", "on",
     "on or off: whether the job itself, after some seconds, finishes what a killed btlctl left",
     set_word<&Settings::takeover, kOnOrOff>},
    {"LOG", "word", "warn", "error, warn, info or debug: what is written to stderr",
     set_word<&Settings::log_level, kLogLevels>},
};

}  // namespace

std::span<const SettingInfo> setting_table() noexcept { return kSettingTable; }

}  // namespace livebtl
