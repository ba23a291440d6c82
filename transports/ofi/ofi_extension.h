// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_extension.h -- operations on an open provider beside the transport's own:
// those of transports/ofi/direct/. liblivebtl.so has none.
//
// Ownership: the transport's; destroyed before the domain that it was made for. Threads: the
// engine's lock.
#pragma once

#include <functional>
#include <memory>

#include "transports/ofi/ofi_domain.h"

namespace livebtl::ofi {

class Extension {
 public:
  virtual ~Extension() = default;
  /// An operation of its own (Use::kExtension) is over. code: 0, or an error of libfabric's.
  virtual void done(Context& context, long code) noexcept = 0;
  /// A connection has gone; what it had under way is still told.
  virtual void disown(const OfiEndpoint& endpoint) noexcept = 0;
  /// From time to time: takes connections down on which an operation has not been answered for
  /// long: some providers drop what they refuse. true: they have forgotten what was under way on
  /// connections that have gone, too, and only their end gives users their memory back.
  virtual bool look(TimeNs now) noexcept = 0;
  /// The domain was stopped: all that was under way has come to nothing.
  virtual void end() noexcept = 0;
};

/// domain: opened for this; outlives it. Errors: kNoMemory, kSystem.
using MakeExtension = std::function<Result<std::unique_ptr<Extension>>(Domain& domain)>;

}  // namespace livebtl::ofi
