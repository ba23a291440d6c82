// SPDX-License-Identifier: BSD-3-Clause
// CRIU's files.img, which btlctl checkpoint restore rewrites as root. What is accepted comes out as
// an image that is accepted, has none of the addresses to be removed, and is the same a second
// time.
#include <algorithm>

#include "hypervisor/criu/new_addresses.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;
using namespace livebtl::hypervisor;

bool open_files(std::string_view image) {
  static const std::vector<NewAddress> kMoved = {*parse_new_address("10.0.0.2=10.0.0.7"),
                                                 *parse_new_address("fd00::2=fd00::7")};
  const auto files = with_new_addresses(image, kMoved);
  if (!files) return false;
  for (const NewAddress& each : kMoved)
    fuzz::must_hold(std::ranges::find(files->own, each.from) == files->own.end(),
                    "the old ones are gone");
  const auto again = with_new_addresses(files->image, kMoved);
  fuzz::must_hold(again && again->image == files->image, "what is written is read, and stays");
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Reached::note(open_files({reinterpret_cast<const char*>(data), size}));
  return 0;
}
