// SPDX-License-Identifier: BSD-3-Clause
// base/device_list.cc -- see device_list.h.
#include "base/device_list.h"

#include <algorithm>

#include "base/text.h"
#include "base/transport_name.h"

namespace livebtl {
namespace {

constexpr std::size_t kEntryBytesMax = 64;
constexpr std::string_view kAuto = "auto";
constexpr std::size_t kNameBytesMax = kTransportNameMax - std::string_view("verbs:").size();
constexpr std::uint8_t kPortMax = 254;
constexpr int kGidIndexMax = 255;  // one byte in ibv_global_route

tl::unexpected<Error> bad(std::string_view entry, std::string_view why) {
  return fail(Errc::kInvalid, "'" + std::string(entry) + "' " + std::string(why) + "; " +
                                  std::string(kDeviceListTakes));
}

/// Cuts everything up to the first `mark` off `text`; returns it without the mark.
std::string_view take_until(std::string_view& text, char mark) noexcept {
  const std::size_t at = std::min(text.find(mark), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

template <class Number>
bool take_number(std::string_view text, Number low, Number high, Number& number) noexcept {
  const auto parsed = parse_number<Number>(text);
  if (!parsed || *parsed < low || *parsed > high) return false;
  number = *parsed;
  return true;
}

Result<DeviceWish> parse_entry(std::string_view entry) {
  if (entry.size() > kEntryBytesMax || entry.ends_with(':')) return bad(entry, "is no device");
  std::string_view rest = entry;
  DeviceWish wish;
  if (rest.find('=') != std::string_view::npos) {
    wish.name = take_until(rest, '=');
    if (!is_plain_name(wish.name) || wish.name.size() > kNameBytesMax)
      return bad(entry, "has a name that is not 1 to 26 letters, digits, '.', '_', '-'");
  }
  wish.device = take_until(rest, ':');
  if (!is_plain_name(wish.device)) return bad(entry, "is no device");
  if (wish.device == kAuto) return bad(entry, "stands alone, or not at all");
  if (rest.empty()) return wish;
  if (!take_number<std::uint8_t>(take_until(rest, ':'), 1, kPortMax, wish.port))
    return bad(entry, "has a port that is not 1 to 254");
  if (!rest.empty() && !take_number(rest, 0, kGidIndexMax, wish.gid_index))
    return bad(entry, "has an index of an address that is not 0 to 255");
  return wish;
}

bool same_port(const DeviceWish& one, const DeviceWish& other) noexcept {
  return one.device == other.device && (one.port == other.port || one.port == 0 || other.port == 0);
}

Status check_names(const DeviceList& list) {
  const std::vector<std::string> names = module_names(list);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& device = list.wishes[i].device;
    if (names[i].size() > kNameBytesMax)
      return bad(device, "is longer than a transport's name may be: call it NAME=" + device);
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      return bad(names[i], "is the name of two entries");
  }
  return {};
}

}  // namespace

std::vector<std::string> module_names(const DeviceList& list) {
  std::vector<std::string> names;
  const bool one = list.wishes.size() == 1 && !list.all_active;
  for (const DeviceWish& wish : list.wishes) {
    const auto uses = std::ranges::count(list.wishes, wish.device, &DeviceWish::device);
    const std::string by_device =
        uses > 1 && wish.port != 0 ? wish.device + ":" + std::to_string(wish.port) : wish.device;
    names.push_back(!wish.name.empty() || one ? wish.name : by_device);
  }
  return names;
}

Result<DeviceList> parse_device_list(std::string_view text) {
  DeviceList list;
  list.all_active = text == kAuto;
  if (text.empty() || list.all_active) return list;
  for (std::string_view rest = text; !rest.empty();) {
    const bool last = rest.find(',') == std::string_view::npos;
    auto wish = parse_entry(take_until(rest, ','));
    if (!wish) return tl::unexpected(wish.error());
    for (const DeviceWish& earlier : list.wishes) {
      if (same_port(earlier, *wish))
        return bad(wish->device, "is there twice with the same port, or without one");
    }
    list.wishes.push_back(std::move(*wish));
    if (!last && rest.empty()) return bad(text, "ends in a comma");
  }
  if (const Status good = check_names(list); !good) return tl::unexpected(good.error());
  return list;
}

}  // namespace livebtl
