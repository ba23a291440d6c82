// SPDX-License-Identifier: BSD-3-Clause
// hypervisor/criu/new_addresses.cc -- see new_addresses.h.
#include "hypervisor/criu/new_addresses.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include <criu_sockets.pb.h>

namespace livebtl::hypervisor {
namespace {

// An image (https://criu.org/Images): two magic numbers, then each entry after its size; numbers
// and sizes have 32 bits.
constexpr std::uint32_t kCommonMagic = 0x54564319;
constexpr std::uint32_t kFilesMagic = 0x56303138;
constexpr std::size_t kWordBytes = sizeof(std::uint32_t);
constexpr std::size_t kV4Offset = 12;  // of an IPv4 address in IpBytes

using AddressWords = google::protobuf::RepeatedField<std::uint32_t>;

tl::unexpected<Error> no_image(const char* why) {
  return fail(Errc::kCorrupt, std::string(kOpenFilesImage) + " is not as CRIU writes it: " + why);
}

std::uint32_t word_at(std::string_view image, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, image.data() + at, kWordBytes);
  return word;
}

void append_word(std::string& image, std::uint32_t word) {
  image.append(reinterpret_cast<const char*>(&word), kWordBytes);
}

/// nullopt if they are of no IP family.
std::optional<IpBytes> ip_in(const AddressWords& words) {
  static const IpBytes v4 = *parse_ip("0.0.0.0");
  if (words.size() != 1 && words.size() != 4) return std::nullopt;
  IpBytes ip = v4;
  std::size_t at = words.size() == 1 ? kV4Offset : 0;
  for (const std::uint32_t word : words) {
    std::memcpy(ip.data() + at, &word, kWordBytes);
    at += kWordBytes;
  }
  return ip;
}

/// An IPv4 address in an IPv6 socket already has the form of IpBytes.
void put(const IpBytes& ip, AddressWords& words) {
  std::size_t at = words.size() == 1 ? kV4Offset : 0;
  for (std::uint32_t& word : words) {
    std::memcpy(&word, ip.data() + at, kWordBytes);
    at += kWordBytes;
  }
}

/// Whether the address has changed.
bool replace(AddressWords& words, const std::vector<NewAddress>& all) {
  const auto ip = ip_in(words);
  const auto known =
      std::ranges::find_if(all, [&](const NewAddress& each) { return each.from == ip; });
  if (!ip || known == all.end()) return false;
  put(known->to, words);
  return true;
}

void note_own(const AddressWords& words, std::vector<IpBytes>& own) {
  const auto ip = ip_in(words);
  if (ip && std::ranges::find(own, *ip) == own.end()) own.push_back(*ip);
}

std::optional<IpBytes> twice_in(std::vector<IpBytes> all) {
  std::ranges::sort(all);
  const auto twice = std::ranges::adjacent_find(all);
  return twice == all.end() ? std::nullopt : std::optional(*twice);
}

std::string addresses_listed(const std::vector<LocalAddress>& addresses) {
  std::string text;
  for (const LocalAddress& each : addresses) {
    if (!is_loopback(each.ip)) text += (text.empty() ? "" : ", ") + livebtl::to_text(each.ip);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Result<NewAddress> parse_new_address(const std::string& text) {
  const auto middle = text.find('=');
  const auto from = parse_ip(text.substr(0, middle));
  const auto to = parse_ip(middle == std::string::npos ? "" : text.substr(middle + 1));
  if (!from || !to || !is_unicast(*from) || !is_unicast(*to))
    return fail(Errc::kInvalid,
                "it takes OLD=NEW, two IP addresses of nodes, as in 10.0.0.2=10.0.0.7");
  if (is_loopback(*from) || is_loopback(*to))
    return fail(Errc::kInvalid, "the loopback's addresses are the same on every node");
  if (is_v4(*from) != is_v4(*to))
    return fail(Errc::kInvalid, "a socket of IPv4 cannot become one of IPv6, nor the other way");
  return NewAddress{*from, *to};
}

std::string to_text(const NewAddress& address) {
  return livebtl::to_text(address.from) + "=" + livebtl::to_text(address.to);
}

Status check_new_addresses(const std::vector<NewAddress>& all) {
  if (all.size() > kNewAddressesMax)
    return fail(Errc::kInvalid,
                "it takes at most " + std::to_string(kNewAddressesMax) + " addresses");
  std::vector<IpBytes> from, to;
  for (const NewAddress& each : all) {
    from.push_back(each.from);
    to.push_back(each.to);
  }
  if (const auto ip = twice_in(std::move(from)))
    return fail(Errc::kInvalid, livebtl::to_text(*ip) + " cannot become two addresses");
  if (const auto ip = twice_in(std::move(to)))
    return fail(Errc::kInvalid, "two addresses cannot become one, " + livebtl::to_text(*ip));
  return {};
}

Result<OpenFiles> with_new_addresses(std::string_view image, const std::vector<NewAddress>& all) {
  if (image.size() < 2 * kWordBytes || word_at(image, 0) != kCommonMagic ||
      word_at(image, kWordBytes) != kFilesMagic)
    return no_image("its magic numbers are others");
  OpenFiles files;
  files.image.reserve(image.size());
  files.image.append(image.substr(0, 2 * kWordBytes));
  image.remove_prefix(2 * kWordBytes);
  criu::OpenFile file;
  while (!image.empty()) {
    if (image.size() < kWordBytes) return no_image("it is cut");
    const std::size_t bytes = word_at(image, 0);
    image.remove_prefix(kWordBytes);
    if (bytes > image.size()) return no_image("it is cut");
    if (!file.ParseFromArray(image.data(), static_cast<int>(bytes)))
      return no_image("an entry is damaged");
    std::string entry(image.substr(0, bytes));
    image.remove_prefix(bytes);
    if (file.has_isk()) {
      files.moved |= replace(*file.mutable_isk()->mutable_src_addr(), all);
      replace(*file.mutable_isk()->mutable_dst_addr(), all);
      note_own(file.isk().src_addr(), files.own);
      entry = file.SerializeAsString();
    }
    append_word(files.image, static_cast<std::uint32_t>(entry.size()));
    files.image += entry;
  }
  return files;
}

/// Sockets bound to no address, or to a loopback address, fit everywhere; link-local ones are left
/// for CRIU to refuse.
Status check_own_addresses(const std::vector<IpBytes>& own, const std::vector<LocalAddress>& here) {
  std::string missing;
  for (const IpBytes& each : own) {
    const bool found = std::ranges::find(here, each, &LocalAddress::ip) != here.end();
    if (found || !is_unicast(each) || is_loopback(each)) continue;
    missing += (missing.empty() ? "" : ", ") + livebtl::to_text(each);
  }
  if (missing.empty()) return {};
  return fail(Errc::kRefused,
              "the processes' sockets are bound to " + missing +
                  ", which this node does not have; give it that address, or tell a "
                  "new one by --address OLD=NEW (it has " +
                  addresses_listed(here) + ")");
}

}  // namespace livebtl::hypervisor
