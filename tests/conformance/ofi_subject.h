// SPDX-License-Identifier: BSD-3-Clause
// tests/conformance/ofi_subject.h -- transports/ofi over one of libfabric's providers, for the
// suite.
#pragma once

#include "tests/conformance/conformance.h"
#include "transports/ofi/ofi_transport.h"

namespace livebtl::conformance {

/// provider: as LIVEBTL_OFI_PROVIDER.
inline Subject ofi_subject(const std::string& provider, bool one_node = true) {
  Subject subject;
  subject.name = "ofi";
  subject.make = [provider,
                  one_node](std::uint64_t process) -> Result<std::unique_ptr<core::Transport>> {
    Settings settings;
    core::NodeFacts facts;
    facts.process = ProcessId{process};
    facts.node = one_node ? 1 : process;
    facts.settings = &settings;
    auto made = ofi::OfiTransport::make(facts, provider);
    if (!made) return tl::unexpected(made.error());
    return std::unique_ptr<core::Transport>(std::move(*made));
  };
  return subject;
}

}  // namespace livebtl::conformance
