// SPDX-License-Identifier: BSD-3-Clause
// Any bytes in a member's page. An input is a list of changes to a good page, four bytes each: a
// position (three bytes) and the byte to put there. What is accepted is bounded and safe to show.
#include <cstring>
#include <memory>

#include "base/text.h"
#include "control/place/member_page.h"
#include "control/place/page_reader.h"
#include "control/wire/messages.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;
using namespace livebtl::control;

constexpr ProcessId kSelf{0x2a};

void fill(core::EnginePage& page) {
  page.written_ns = 5'000'000;
  page.transports_shown = 2;
  page.transport[0].name = "self";
  page.transport[1].name = "sm";
  page.peers = page.peers_shown = 2;
  for (std::size_t i = 0; i < 2; ++i) {
    page.peer[i].process = i + 1;
    page.peer[i].sending = 1;
    page.peer[i].receiving = core::kNoTransport;
  }
  page.losses = page.losses_shown = 1;
}

void fill(StandingPage& page) {
  page.unix_ns = 9'000'000;
  page.doing = "switch sm tcp";
  page.switches_shown = 2;
  for (std::size_t i = 0; i < 2; ++i) {
    page.switch_[i].verb = "switch";
    page.switch_[i].arguments = "sm tcp";
    page.switch_[i].rungs_shown = 3;
  }
}

const PageFile& good_page() {
  static const auto page = [] {
    auto made = std::make_unique<PageFile>();
    made->header.magic = kPageMagic;
    made->header.version = kPageVersion;
    made->header.bytes = sizeof(PageFile);
    made->header.process = static_cast<std::uint64_t>(kSelf);
    made->header.pid = 7;
    made->header.job = "job-1";
    made->header.name = "rank 0 on node17";
    made->header.node = "0000000000000077";
    for (auto& copy : made->standing.copies) fill(copy);
    for (auto& copy : made->engine.copies) fill(copy);
    return made;
  }();
  return *page;
}

void must_be_clean(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(1))
    fuzz::must_hold(control_bytes(text) == 0, "nothing in a page reaches a terminal's controls");
}

void check(const PageView& view) {
  fuzz::must_hold(view.member.process == kSelf, "it is the page that was asked for");
  fuzz::must_hold(view.pairs.size() <= core::kPagePeers, "pairs are bounded");
  fuzz::must_hold(view.switches.size() <= kSwitchesKept, "switches are bounded");
  for (const auto& text : {view.name, view.host, view.doing, view.refusal, view.waiting})
    must_be_clean(text);
  for (const auto& record : view.switches) {
    for (const auto& rung : record.rungs)
      fuzz::must_hold(rung.reached_ns >= rung.ordered_ns, "time goes forward");
  }
  // What a member of another node forwards must be accepted there.
  const auto text = encode(fit_page(PageAnswer{view}));
  fuzz::must_hold(text && decode(*text), "a page that is accepted can be told");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> image(sizeof(PageFile));
  std::memcpy(image.data(), &good_page(), image.size());
  for (; size >= 4; size -= 4, data += 4) {
    const auto at = static_cast<std::size_t>(data[0] | data[1] << 8 | data[2] << 16);
    image[at % image.size()] = static_cast<std::byte>(data[3]);
  }
  const auto view = read_page(
      [&image](std::size_t offset, MutableBytes into) {
        if (offset + into.size() > image.size()) return false;
        std::memcpy(into.data(), image.data() + offset, into.size());
        return true;
      },
      kSelf);
  fuzz::Reached::note(view.has_value());
  if (view) {
    check(*view);
  } else {
    fuzz::must_hold(!view.error().text.empty(), "a refusal says why");
  }
  return 0;
}
