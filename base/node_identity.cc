// SPDX-License-Identifier: BSD-3-Clause
// base/node_identity.cc -- boot id and namespaces, hashed with BLAKE2b. Any thread; called once, at
// start.
#include "base/node_identity.h"

#include <sodium.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/bytes.h"

namespace livebtl {
namespace {

tl::unexpected<Error> cannot_read(const char* path, int error) {
  return fail(Errc::kSystem, std::string("cannot read ") + path + ": " + std::strerror(error) +
                                 "; set LIVEBTL_NODE to one name on all processes of a machine");
}

// Device and inode identify a namespace; the device is the kernel's only nsfs.
Result<std::uint64_t> namespace_inode(const char* path) {
  struct stat status {};
  if (::stat(path, &status) != 0) return cannot_read(path, errno);
  return status.st_ino;
}

std::uint64_t hash64(Bytes bytes) {
  std::uint64_t hash = 0;
  std::array<unsigned char, crypto_generichash_blake2b_BYTES_MIN> digest{};
  crypto_generichash_blake2b(digest.data(), digest.size(),
                             reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                             nullptr, 0);
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash != 0 ? hash : 1;
}

}  // namespace

Result<NodeParts> read_node_parts() {
  constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";
  NodeParts parts;
  std::ifstream file(kBootId);
  if (!std::getline(file, parts.boot_id)) return cannot_read(kBootId, errno);
  const struct {
    const char* path;
    std::uint64_t* inode;
  } wanted[] = {{"/proc/self/ns/pid", &parts.pid_namespace},
                {"/proc/self/ns/user", &parts.user_namespace},
                {"/proc/self/ns/mnt", &parts.mount_namespace}};
  for (const auto& [path, inode] : wanted) {
    const Result<std::uint64_t> found = namespace_inode(path);
    if (!found) return tl::unexpected(found.error());
    *inode = *found;
  }
  return parts;
}

std::uint64_t hash_node(std::string_view name, const NodeParts& parts) {
  ByteWriter writer;
  if (!name.empty()) {
    writer.put_bytes(as_bytes("livebtl node name"));
    writer.put_bytes(as_bytes(name));
  } else {
    writer.put_bytes(as_bytes("livebtl node"));
    writer.put(std::uint64_t{parts.boot_id.size()});
    writer.put_bytes(as_bytes(parts.boot_id));
    writer.put(parts.pid_namespace);
    writer.put(parts.user_namespace);
    writer.put(parts.mount_namespace);
  }
  return hash64(writer.blob());
}

Result<std::uint64_t> node_identity(std::string_view name) {
  if (!name.empty()) return hash_node(name, {});
  return read_node_parts().map([](const NodeParts& parts) { return hash_node({}, parts); });
}

}  // namespace livebtl
