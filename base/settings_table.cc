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
     "64 random hexadecimal digits, alike in all processes of the job and known to nobody else, "
     "from which its secret is made, and its id where the launcher has none; livebtl-run gives one "
     "under MPICH's mpiexec and srun",
     set_seed},
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
    {"VERBS_DEVICE", "list", "",
     "RDMA devices that verbs uses, as in mlx5_0, mlx5_0:1 (port) or mlx5_0:1:3 (address); of "
     "several, as in mlx5_0,mlx5_1, each is a transport of its own, verbs:mlx5_0, or verbs:NAME by "
     "NAME=mlx5_0; auto: all active ports; empty: the first that can be used",
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
    {"CREDIT_BYTES", "bytes", "1M",
     "unexpected payload that a peer may have waiting here, beside UNEXPECTED_BYTES",
     set_bytes<&Settings::credit_bytes, 65536>},
    {"CREDIT_HEADERS", "count", "4096",
     "unexpected messages that a peer may have waiting here, beside UNEXPECTED_BYTES",
     set_number<&Settings::credit_headers, 16, 1u << 24>},
    {"UNEXPECTED_BYTES", "bytes", "1G",
     "memory for unexpected messages of all peers, half of it for payload; beyond it a message "
     "waits at its sender until others are received; 0: what CREDIT_BYTES and CREDIT_HEADERS allow",
     set_bytes<&Settings::unexpected_bytes, 0, std::uint64_t{1} << 50>},
    {"OPERATIONS", "count", "65536", "sends and one-sided operations a port may have open",
     set_number<&Settings::operations_max, 16, 1u << 24>},
    {"SM_RING_BYTES", "bytes", "256K",
     "shared-memory ring a direction, of which a message that is sent at once may take a quarter; "
     "at least 128K",
     set_bytes<&Settings::sm_ring_bytes, 131072>},
    {"SM_SINGLE_COPY", "word", "auto",
     "are large payloads over shared memory read out of the peer? cma: by process_vm_readv, where "
     "the kernel allows that; knem: by the driver of /dev/knem, where that is loaded; none: no; "
     "auto: by cma, or else by knem, where that is measured to be faster than two copies",
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
