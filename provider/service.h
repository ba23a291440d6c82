// SPDX-License-Identifier: BSD-3-Clause
// provider/service.h -- node and service names, for programs that find each other by these instead
// of exchanging addresses.
//
// fi_getinfo must have no side effects, and the service may start later than its client. So a name
// becomes an address of its own kind: the server's endpoint publishes it when enabled, and the
// client's address vector resolves it on insertion. It is published as a file in the run directory,
// for processes of one host, or of hosts that share LIVEBTL_RUNDIR.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "base/fd.h"
#include "livebtl/engine.h"

namespace livebtl::fi {

/// The address that stands for a service of this host until it is resolved. service null: any.
/// Errors: kNotFound (the node is not this host), kInvalid (the service's name).
Result<Address> service_address(const char* node, const char* service);
bool is_service_address(const Address& address) noexcept;

/// Waits up to 5 s for the service to be published.
/// Errors: kNotFound, kSystem, kAuth.
Result<Address> resolve_service(const Address& service);

/// A service's file, held open and locked while the endpoint lives; an unlocked file is stale.
class PublishedService {
 public:
  ~PublishedService();

  /// Does nothing for a service address without a name.
  /// Errors: kSystem, kAuth (the run directory is not ours), kRefused (another live endpoint has
  /// the name).
  Status publish(const Address& service, const Address& endpoint);

 private:
  Fd fd_;
  std::string path_;
  pid_t owner_ = 0;
};

/// For people: "livebtl:service/9228", "livebtl:01ab...". text: [kAddressTextBytes].
inline constexpr std::size_t kAddressTextBytes = 160;
void write_address_text(const Address& address, char* text) noexcept;

}  // namespace livebtl::fi
