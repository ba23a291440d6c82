// SPDX-License-Identifier: BSD-3-Clause
// transports/ofi/ofi_extension.h -- operations on an open provider besides the transport's own:
// those of transports/ofi/direct/. liblivebtl.so has none.
//
// Ownership: the transport owns it and destroys it before its domain. Threads: the engine's lock.
#pragma once

#include <functional>
#include <memory>

#include "transports/ofi/ofi_domain.h"

namespace livebtl::ofi {

class Extension {
 public:
  virtual ~Extension() = default;
  /// One of its operations (Use::kExtension) has ended. code: 0, or a libfabric error.
  virtual void done(Context& context, long code) noexcept = 0;
  /// A connection has gone; its operations are still reported.
  virtual void disown(const OfiEndpoint& endpoint) noexcept = 0;
  /// From time to time: takes down connections with an operation that has long been unanswered, as
  /// some providers drop what they refuse. true: the provider has also forgotten operations of
  /// connections that have gone, and only closing it gives users their memory back.
  virtual bool look(TimeNs now) noexcept = 0;
  /// The domain was stopped: every operation under way has failed.
  virtual void end() noexcept = 0;
};

/// domain: opened for this; outlives it. Errors: kNoMemory, kSystem.
using MakeExtension = std::function<Result<std::unique_ptr<Extension>>(Domain& domain)>;

}  // namespace livebtl::ofi
