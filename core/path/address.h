// SPDX-License-Identifier: BSD-3-Clause
// core/path/address.h -- the 64 bytes that name a port to the world. docs/WIRE.md, "Address". Pure.
//
// Layout: 'L' 'B', version 1, reserved 0, port u16, process id u64, then the contacts that fit,
// each as (name hash u8, length u8, bytes), zero-filled. A contact is a transport's short address,
// enough for the first connection; everything else travels in the hello.
#pragma once

#include <map>
#include <string>

#include "base/bytes.h"
#include "livebtl/result.h"

namespace livebtl::core {

struct AddressParts {
  ProcessId process{};
  PortNumber port = 0;
  std::map<std::uint8_t, Blob> contacts;  // by name hash
};

/// One byte that stands for a transport's name. Two names may share one: a contact stored under the
/// wrong name is no address of that transport, and the hello tells which is which.
std::uint8_t name_hash(std::string_view transport) noexcept;
/// contacts: in order of usefulness; those that do not fit are left out.
Address encode_address(ProcessId process, PortNumber port,
                       const std::vector<std::pair<std::string, Blob>>& contacts) noexcept;
/// Errors: kInvalid.
Result<AddressParts> decode_address(const Address& address);

}  // namespace livebtl::core
