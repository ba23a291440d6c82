// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/new_addresses.h -- restores with other IP addresses than were dumped: both ends
// of a TCP connection are in the set, and each is told that it has always had the new ones. What is
// read is hostile. Any thread; owns nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/interfaces.h"
#include "livebtl/result.h"

namespace livebtl::hypervisor {

/// CRIU's list of everything that the processes had open, in the directory of the images.
inline constexpr const char* kOpenFilesImage = "files.img";
inline constexpr std::size_t kOpenFilesBytesMax = std::size_t{256} << 20;
inline constexpr std::size_t kNewAddressesMax = 4096;

struct NewAddress {
  IpBytes from{};
  IpBytes to{};
  friend bool operator==(const NewAddress&, const NewAddress&) = default;
};
/// "10.0.0.2=10.0.0.7": of one family, and neither a loopback address. Errors: kInvalid.
Result<NewAddress> parse_new_address(const std::string& text);
std::string to_text(const NewAddress& address);
/// One old address cannot become two, nor can two become one. Errors: kInvalid.
Status check_new_addresses(const std::vector<NewAddress>& all);

struct OpenFiles {
  std::string image;
  std::vector<IpBytes>
      own;  // that sockets are bound to, each once: a node that restores them needs these
  bool moved = false;  // one of `own` is a new address
};
/// The image with new addresses in place of old ones, at both ends. Errors: kCorrupt: CRIU did not
/// write it.
Result<OpenFiles> with_new_addresses(std::string_view image, const std::vector<NewAddress>& all);

/// Checks that all of these that are specific to a node and a network are here. Errors: kRefused,
/// with what to give instead.
Status check_own_addresses(const std::vector<IpBytes>& own, const std::vector<LocalAddress>& here);

}  // namespace livebtl::hypervisor
