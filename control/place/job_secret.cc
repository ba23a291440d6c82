// SPDX-License-Identifier: BSD-3-Clause
// control/place/job_secret.cc -- see job_secret.h.
#include "control/place/job_secret.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/fd.h"
#include "base/hex.h"
#include "control/place/directory.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kSecretTextMax = 256;
using Key = std::array<std::byte, kSecretBytes>;

/// 32 raw bytes, or 64 hexadecimal digits and perhaps line ends.
std::optional<Key> parse_key(std::string_view text) {
  Key key{};
  if (text.size() == kSecretBytes) {
    std::memcpy(key.data(), text.data(), kSecretBytes);
    return key;
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  if (text.size() != 2 * kSecretBytes) return std::nullopt;
  for (std::size_t i = 0; i < kSecretBytes; ++i) {
    const auto byte = parse_hex(text.substr(2 * i, 2));
    if (!byte) return std::nullopt;
    key[i] = static_cast<std::byte>(*byte);
  }
  return key;
}

Result<Secret> as_secret(const std::string& source, std::string_view text) {
  const auto key = parse_key(text);
  if (key) return Secret(*key);
  return fail(Errc::kInvalid, source +
                                  " must hold 32 bytes or 64 hexadecimal digits; make one with: "
                                  "(umask 077; head -c 32 /dev/urandom > FILE)");
}

/// Ranks may share a descriptor and its file position: if it has one, it is not moved.
Result<Secret> read_secret_fd(int number) {
  std::array<char, kSecretTextMax> at_start{};
  const ssize_t count = ::pread(number, at_start.data(), at_start.size(), 0);
  if (count >= 0) {
    return as_secret("LIVEBTL_SECRET_FD", {at_start.data(), static_cast<std::size_t>(count)});
  }
  auto text = read_descriptor(number, kSecretTextMax);  // a pipe or a socket
  if (!text) {
    return fail(text.error().code, "LIVEBTL_SECRET_FD=" + std::to_string(number) + ": " +
                                       text.error().text + "; pass an open descriptor");
  }
  return as_secret("LIVEBTL_SECRET_FD", *text);
}

Key new_key() {
  Key key{};
  for (std::size_t at = 0; at < key.size(); at += sizeof(Nonce)) {
    const Nonce piece = random_nonce();
    std::memcpy(key.data() + at, piece.data(), piece.size());
  }
  return key;
}

/// Writes a new secret under another name and links it to `path`: nobody reads half of one, and
/// exactly one of several processes wins.
Status offer_new_secret(const std::string& path) {
  const std::string own = path + "." + std::to_string(random_u64());
  const Fd fd(::open(own.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    return fail(Errc::kSystem, "cannot make " + own + ": " + std::strerror(errno) +
                                   "; make room there, or set LIVEBTL_RUNDIR");
  }
  const Key key = new_key();
  auto written =
      write_descriptor(fd.number(), {reinterpret_cast<const char*>(key.data()), key.size()});
  const bool linked = written && ::link(own.c_str(), path.c_str()) == 0;
  const int error = errno;
  ::unlink(own.c_str());
  if (!written) return fail(Errc::kSystem, own + ": " + written.error().text);
  if (linked || error == EEXIST) return {};
  return fail(Errc::kSystem, "cannot make " + path + ": " + std::strerror(error));
}

Result<Secret> shared_secret_file(const std::string& path) {
  auto secret = read_secret_file(path);
  if (secret || secret.error().code != Errc::kNotFound) return secret;
  auto offered = offer_new_secret(path);
  if (!offered) return tl::unexpected(offered.error());
  return read_secret_file(path);
}

}  // namespace

Result<Secret> read_secret_file(const std::string& path) {
  const FileRule rule{.owner = ::geteuid(), .bytes_max = kSecretTextMax, .secret = true};
  auto text = read_small_file(path, rule);
  if (!text && text.error().code == Errc::kLimit) return as_secret(path, "");  // says what it takes
  if (!text) return tl::unexpected(text.error());
  return as_secret(path, *text);
}

std::string secret_text(const Secret& secret) {
  return secret.present() ? hex_bytes(secret.key()) : std::string();
}

Result<Secret> parse_secret_text(std::string_view text) {
  return text.empty() ? Secret() : as_secret("the secret", text);
}

Status write_secret_file(const std::string& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd && errno == EEXIST) {
    return fail(Errc::kRefused, path + " exists already; name a new file, or remove it first");
  }
  if (!fd) {
    const Errc code = errno == EACCES || errno == EPERM ? Errc::kAuth : Errc::kSystem;
    return fail(code, "cannot make " + path + ": " + std::strerror(errno));
  }
  auto written = write_descriptor(fd.number(), text);
  if (written) written = write_descriptor(fd.number(), "\n");
  if (written) return {};
  ::unlink(path.c_str());
  return fail(written.error().code, path + ": " + written.error().text);
}

Result<Secret> find_secret(const Settings& settings, std::string_view seed,
                           const std::string& shared) {
  if (settings.auth == AuthLevel::kNone) return Secret{};
  if (settings.secret_fd >= 0) return read_secret_fd(settings.secret_fd);
  if (!settings.secret_file.empty()) return read_secret_file(settings.secret_file);
  if (seed.empty()) return shared_secret_file(shared);
  const Secret public_key{Key{}};  // a plain hash with a purpose of its own: the seed is the secret
  return Secret(public_key.mac("livebtl job secret", as_bytes(seed)));
}

}  // namespace livebtl::control
