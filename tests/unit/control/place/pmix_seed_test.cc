// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/control/place/pmix_seed_test.cc -- the seed that rank 0 publishes; PMIx is played.
#include "control/place/pmix_seed.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <map>

using namespace livebtl;
using namespace livebtl::control;

namespace {

/// What the server knows, and who calls: PMIx's functions have no argument for that.
struct Server {
  std::string name_space = "job@1";
  pmix_rank_t rank = 0;
  std::string parent;                            // namespace; empty: not spawned
  std::map<std::string, std::string> committed;  // rank 0's, by namespace
  std::string put;
  pmix_status_t fails = PMIX_SUCCESS;
  pmix_data_type_t type = PMIX_STRING;
  int timeout_s = 0;
  int too_early = 0;  // requests that come before rank 0 has published
  enum class Finds { kAlways, kRefreshed, kAsItIs } finds = Finds::kAlways;
  int clients = 0;  // at present
};
Server* server = nullptr;

pmix_value_t* value_of(pmix_data_type_t type) {
  auto* const value = static_cast<pmix_value_t*>(std::calloc(1, sizeof(pmix_value_t)));
  value->type = type;
  return value;
}

pmix_status_t init(pmix_proc_t* self, pmix_info_t*, std::size_t) {
  if (server->fails != PMIX_SUCCESS) return server->fails;
  std::strncpy(self->nspace, server->name_space.c_str(), PMIX_MAX_NSLEN);
  self->rank = server->rank;
  ++server->clients;
  return PMIX_SUCCESS;
}
pmix_status_t finalize(const pmix_info_t*, std::size_t) {
  --server->clients;
  return PMIX_SUCCESS;
}
pmix_status_t put(pmix_scope_t scope, const char*, pmix_value_t* value) {
  CHECK(scope == PMIX_GLOBAL);  // for other nodes too
  CHECK(value->type == PMIX_STRING);
  server->put = value->data.string;
  return PMIX_SUCCESS;
}
pmix_status_t commit() {
  server->committed[server->name_space] = server->put;
  return PMIX_SUCCESS;
}
pmix_status_t get_parent(pmix_value_t** value) {
  if (server->parent.empty()) return PMIX_ERR_NOT_FOUND;
  *value = value_of(PMIX_PROC);
  (*value)->data.proc = static_cast<pmix_proc_t*>(std::calloc(1, sizeof(pmix_proc_t)));
  std::strncpy((*value)->data.proc->nspace, server->parent.c_str(), PMIX_MAX_NSLEN);
  (*value)->data.proc->rank = 3;
  return PMIX_SUCCESS;
}
pmix_status_t get(const pmix_proc_t* of, const char* key, const pmix_info_t* info,
                  std::size_t count, pmix_value_t** value) {
  if (std::string_view(key) == PMIX_PARENT_ID) return get_parent(value);
  CHECK(of->rank == 0);
  REQUIRE(count >= 1);
  CHECK(std::string_view(info->key) == PMIX_TIMEOUT);
  server->timeout_s = info->value.data.integer;
  if (server->too_early-- > 0) return PMIX_ERR_NOT_FOUND;
  const bool refreshes = count == 2 && std::string_view(info[1].key) == PMIX_GET_REFRESH_CACHE;
  if (server->finds != Server::Finds::kAlways &&
      refreshes != (server->finds == Server::Finds::kRefreshed))
    return PMIX_ERR_NOT_FOUND;
  const auto found = server->committed.find(of->nspace);
  if (found == server->committed.end()) return PMIX_ERR_TIMEOUT;
  *value = value_of(server->type);
  if (server->type == PMIX_STRING) (*value)->data.string = ::strdup(found->second.c_str());
  return PMIX_SUCCESS;
}
const char* error_string(pmix_status_t status) {
  return status == PMIX_ERR_TIMEOUT ? "LATE" : nullptr;
}

constexpr PmixCalls kCalls{init, put, commit, get, finalize, error_string};

struct Played : Server {
  Played() { server = this; }
  ~Played() {
    CHECK(clients == 0);  // otherwise the launcher takes the process's end for a crash
    server = nullptr;
  }
  std::string seed_of(const std::string& world, pmix_rank_t which,
                      const std::string& spawned_by = "") {
    name_space = world;
    rank = which;
    parent = spawned_by;
    const auto seed = seed_by_pmix(kCalls, 7);
    return seed ? *seed : seed.error().text;
  }
  Errc error_of_rank_1() {
    rank = 1;
    const auto seed = seed_by_pmix(kCalls, 7);
    return seed ? Errc::kOk : seed.error().code;
  }
};

}  // namespace

TEST_CASE("what rank 0 publishes the others get") {
  Played played;
  const std::string seed = played.seed_of("job@1", 0);
  CHECK(seed.size() == 64);
  CHECK(played.seed_of("job@1", 1) == seed);
  CHECK(played.timeout_s == 7);
  CHECK(played.seed_of("other@1", 0) != seed);
}

TEST_CASE("who asks before rank 0 has published asks again") {
  Played played;
  const std::string seed = played.seed_of("job@1", 0);
  played.too_early = 3;
  CHECK(played.seed_of("job@1", 1) == seed);
  CHECK(played.too_early == -1);
}

TEST_CASE(
    "it is found by servers that have to be told to look anew, and by those that then find "
    "nothing") {
  for (const auto finds : {Server::Finds::kRefreshed, Server::Finds::kAsItIs}) {
    for (const int early : {0, 1, 2}) {
      Played played;
      const std::string seed = played.seed_of("job@1", 0);
      played.finds = finds;
      played.too_early = early;
      CHECK(played.seed_of("job@1", 1) == seed);
    }
  }
}

TEST_CASE("spawned processes get the seed of those that spawned them, to any depth") {
  Played played;
  const std::string seed = played.seed_of("job@1", 0);
  CHECK(played.seed_of("job@2", 0, "job@1") == seed);
  CHECK(played.seed_of("job@2", 5, "job@1") == seed);
  CHECK(played.seed_of("job@3", 0, "job@2") == seed);
}

TEST_CASE("a server that gives no seed is told of in its own words") {
  Played played;
  CHECK(played.error_of_rank_1() == Errc::kTimeout);
  CHECK(played.seed_of("job@1", 1) == "PMIx: rank 0's seed: LATE");
  CHECK(played.seed_of("job@2", 0, "job@1") ==
        "PMIx: rank 0's seed: LATE");  // never a seed of its own
  played.fails = PMIX_ERR_UNREACH;
  CHECK(played.error_of_rank_1() == Errc::kSystem);
}

TEST_CASE("what is no seed is refused") {
  Played played;
  for (const std::string& bad : {std::string(), std::string(63, 'a'), std::string(65, 'a'),
                                 std::string(64, 'g'), std::string(100000, '0')}) {
    played.committed["job@1"] = bad;
    CHECK(played.error_of_rank_1() == Errc::kInvalid);
  }
  played.committed["job@1"] = std::string(64, 'a');
  CHECK(played.error_of_rank_1() == Errc::kOk);
  played.type = PMIX_UNDEF;
  CHECK(played.error_of_rank_1() == Errc::kInvalid);
}

TEST_CASE("a process that has loaded no PMIx loads none") { CHECK_FALSE(loaded_pmix()); }
