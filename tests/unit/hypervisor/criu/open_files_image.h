// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/criu/open_files_image.h -- CRIU's files.img (https://criu.org/Images),
// written byte by byte for new_addresses.cc to read. Owns nothing.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>

#include "base/interfaces.h"

namespace livebtl::hypervisor {

inline std::string image_word(std::uint32_t word) {
  return {reinterpret_cast<const char*>(&word), sizeof word};
}

inline std::string varint(std::uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7U)
    text += static_cast<char>(static_cast<unsigned char>(value | 0x80U));
  return text + static_cast<char>(value);
}

inline std::string open_files_image(std::initializer_list<std::string> entries) {
  std::string image = image_word(0x54564319) + image_word(0x56303138);
  for (const std::string& entry : entries)
    image += image_word(static_cast<std::uint32_t>(entry.size())) + entry;
  return image;
}

/// In protobuf: a number, or bytes, in the field of that number.
inline std::string number_field(unsigned field, std::uint64_t value) {
  return varint(field << 3U) + varint(value);
}
inline std::string bytes_field(unsigned field, const std::string& bytes) {
  return varint(field << 3U | 2U) + varint(bytes.size()) + bytes;
}

/// In the order that protobuf's own library writes: first known fields, then others as they came.
inline std::string whole_entry(const std::string& known_field, unsigned type) {
  return known_field + number_field(1, type) + number_field(2, 17);
}

inline std::string file_entry(const std::string& name) {
  return number_field(1, 1) + number_field(2, 16) + bytes_field(3, bytes_field(5, name));
}

inline std::string address_fields(unsigned field, const IpBytes& ip, std::size_t from) {
  std::string text;
  for (std::size_t at = from; at < ip.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, ip.data() + at, sizeof word);
    text += number_field(field, word);
  }
  return text;
}

inline std::string socket_of(const std::string& local, const std::string& remote,
                             std::size_t from) {
  const std::string addresses =
      address_fields(11, *parse_ip(local), from) + address_fields(12, *parse_ip(remote), from);
  return whole_entry(bytes_field(4, addresses + number_field(1, 17) + number_field(7, 40'123) +
                                        bytes_field(17, "eth0")),
                     4);
}

inline std::string socket_entry(const std::string& local, const std::string& remote) {
  return socket_of(local, remote, is_v4(*parse_ip(local)) ? 12 : 0);
}
inline std::string mapped_socket_entry(const std::string& local, const std::string& remote) {
  return socket_of(local, remote, 0);
}

}  // namespace livebtl::hypervisor
