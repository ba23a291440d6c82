// SPDX-License-Identifier: BSD-3-Clause
// control/place/pmix_seed.cc -- see pmix_seed.h. Calls and attributes as in the PMIx Standard 4.1:
// PMIx_Put and PMIx_Get in chapter 5, PMIX_PARENT_ID and PMIX_TIMEOUT where they are listed.
#include "control/place/pmix_seed.h"

#include <dlfcn.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/hex.h"
#include "base/secret.h"

namespace livebtl::control {
namespace {

constexpr char kKey[] = "livebtl.seed";
constexpr std::size_t kSeedDigits = 64;

constexpr int kAgainAfterMs = 10;

bool is_digit(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

template <std::size_t kBytes>
void copy_text(char (&to)[kBytes], std::string_view from) noexcept {
  const std::size_t bytes = std::min(from.size(), kBytes - 1);
  std::memcpy(to, from.data(), bytes);
  to[bytes] = '\0';
}

void say_yes(pmix_info_t& info, std::string_view key) noexcept {
  copy_text(info.key, key);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
}

/// Frees the value.
Result<std::string> taken_from(pmix_value_t* value) {
  std::string seed;
  if (value->type == PMIX_STRING && value->data.string != nullptr) {
    seed.assign(value->data.string, ::strnlen(value->data.string, kSeedDigits + 1));
    std::free(value->data.string);
  }
  std::free(value);
  if (seed.size() == kSeedDigits && std::ranges::all_of(seed, is_digit)) return seed;
  return fail(Errc::kInvalid, "what rank 0 has published as livebtl.seed is no seed");
}

/// This process as a client of its PMIx server, while the object lives. MPI is one too: both are
/// counted.
class PmixClient {
 public:
  explicit PmixClient(const PmixCalls& calls) noexcept
      : calls_(calls), status_(calls.init(&self_, nullptr, 0)) {}
  ~PmixClient() {
    if (status_ == PMIX_SUCCESS) calls_.finalize(nullptr, 0);
  }
  PmixClient(const PmixClient&) = delete;
  PmixClient& operator=(const PmixClient&) = delete;

  pmix_status_t status() const noexcept { return status_; }
  const pmix_proc_t& self() const noexcept { return self_; }

  pmix_status_t publish(std::string& seed) const noexcept {
    pmix_value_t value{};
    value.type = PMIX_STRING;
    value.data.string = seed.data();
    const pmix_status_t put = calls_.put(PMIX_GLOBAL, kKey, &value);
    return put == PMIX_SUCCESS ? calls_.commit() : put;
  }
  /// What rank 0 of that namespace has published. Once rank 0 has published anything, the server
  /// reports the rest as not found rather than wait for it: so we ask again. Every other time we
  /// tell it to ask rank 0's own server afresh, since what it has of a process on another node is
  /// old; of one on this node PMIx 5.0 then finds nothing at all.
  Result<std::string> seed_of(const pmix_nspace_t& name_space, int timeout_s) const {
    const TimeNs until = monotonic_now() + timeout_s * kSecond;
    pmix_info_t how[2]{};
    copy_text(how[0].key, PMIX_TIMEOUT);
    how[0].value.type = PMIX_INT;
    how[0].value.data.integer = timeout_s;
    say_yes(how[1], PMIX_GET_REFRESH_CACHE);
    std::size_t said = 1;
    const pmix_proc_t first = rank_0_of(name_space);
    pmix_value_t* value = nullptr;
    pmix_status_t got = calls_.get(&first, kKey, how, said, &value);
    while (got == PMIX_ERR_NOT_FOUND && monotonic_now() < until) {
      ::poll(nullptr, 0, kAgainAfterMs);
      said = said == 1 ? std::size(how) : 1;
      got = calls_.get(&first, kKey, how, said, &value);
    }
    if (got != PMIX_SUCCESS || value == nullptr) return failure("rank 0's seed", got);
    return taken_from(value);
  }
  /// The process that spawned this one's world, if any.
  std::optional<pmix_proc_t> parent() const noexcept {
    pmix_info_t here{};
    say_yes(here, PMIX_OPTIONAL);  // only what the server told us at start
    pmix_value_t* value = nullptr;
    if (calls_.get(&self_, PMIX_PARENT_ID, &here, 1, &value) != PMIX_SUCCESS || value == nullptr)
      return std::nullopt;
    std::optional<pmix_proc_t> parent;
    if (value->type == PMIX_PROC && value->data.proc != nullptr) {
      parent = *value->data.proc;
      std::free(value->data.proc);
    }
    std::free(value);
    return parent;
  }
  tl::unexpected<Error> failure(const std::string& what, pmix_status_t status) const {
    const char* const words = calls_.error_string(status);
    return fail(status == PMIX_ERR_TIMEOUT ? Errc::kTimeout : Errc::kSystem,
                "PMIx: " + what + ": " + (words != nullptr ? words : "unknown"));
  }

 private:
  static pmix_proc_t rank_0_of(const pmix_nspace_t& name_space) noexcept {
    pmix_proc_t first{};
    copy_text(first.nspace, {name_space, ::strnlen(name_space, PMIX_MAX_NSLEN)});
    return first;
  }

  const PmixCalls& calls_;
  pmix_proc_t self_{};
  const pmix_status_t status_;
};

template <class Function>
bool find(void* library, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::optional<PmixCalls> loaded_pmix() noexcept {
  void* const library = ::dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return std::nullopt;
  PmixCalls calls;
  const bool whole =
      find(library, "PMIx_Init", calls.init) && find(library, "PMIx_Put", calls.put) &&
      find(library, "PMIx_Commit", calls.commit) && find(library, "PMIx_Get", calls.get) &&
      find(library, "PMIx_Finalize", calls.finalize) &&
      find(library, "PMIx_Error_string", calls.error_string);
  return whole ? std::optional(calls) : std::nullopt;
}

Result<std::string> seed_by_pmix(const PmixCalls& calls, int timeout_s) {
  const PmixClient client(calls);
  if (client.status() != PMIX_SUCCESS) return client.failure("no connection", client.status());
  const pmix_nspace_t& own = client.self().nspace;
  if (client.self().rank != 0) return client.seed_of(own, timeout_s);
  std::string seed;
  if (const auto parent = client.parent()) {
    auto inherited = client.seed_of(parent->nspace, timeout_s);
    if (!inherited) return inherited;
    seed = std::move(*inherited);
  } else {
    while (seed.size() < kSeedDigits) seed += hex_digits(random_u64(), 16);
  }
  const pmix_status_t published = client.publish(seed);
  if (published != PMIX_SUCCESS) return client.failure("publishing the seed", published);
  return seed;
}

}  // namespace livebtl::control
