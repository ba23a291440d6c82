// SPDX-License-Identifier: BSD-3-Clause
// Address vectors, and names of services that become addresses.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/fd.h"
#include "base/run_directory.h"
#include "pair.h"

// Event queues of address vectors are deprecated in libfabric 2; older programs use them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace livebtl;
using namespace livebtl::fake;

namespace {

/// A run directory of the test's own.
struct RunDirectory {
  RunDirectory() {
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    ::setenv("LIVEBTL_RUNDIR", path.c_str(), 1);
  }
  ~RunDirectory() {
    ::unsetenv("LIVEBTL_RUNDIR");
    ::rmdir((path + "/.service").c_str());
    ::rmdir(path.c_str());
  }
  std::string path = "/tmp/livebtl-test-XXXXXX";
};

fid_ep* open_server(Pair& pair, const char* service) {
  Info info;
  REQUIRE(ask(nullptr, info, nullptr, service, FI_SOURCE) == 0);
  fid_ep* server = nullptr;
  REQUIRE(fi_endpoint(pair.domain, info.get(), &server, nullptr) == 0);
  REQUIRE(fi_ep_bind(server, &pair.av->fid, 0) == 0);
  REQUIRE(fi_ep_bind(server, &pair.cq[0]->fid, FI_TRANSMIT | FI_RECV) == 0);
  REQUIRE(fi_enable(server) == 0);
  return server;
}

}  // namespace

TEST_CASE("an address goes in and comes out, and is gone once removed") {
  Pair pair;
  Address raw;
  std::size_t bytes = raw.raw.size();
  REQUIRE(fi_av_lookup(pair.av, pair.address[1], raw.raw.data(), &bytes) == 0);
  CHECK(bytes == 64);
  Address name;
  fi_getname(&pair.ep[1]->fid, name.raw.data(), &bytes);
  CHECK(raw == name);
  REQUIRE(fi_av_remove(pair.av, &pair.address[1], 1, 0) == 0);
  CHECK(fi_av_lookup(pair.av, pair.address[1], raw.raw.data(), &bytes) == -FI_EINVAL);
  CHECK(fi_tinject(pair.ep[0], "x", 1, pair.address[1], 1) == -FI_EINVAL);
  fi_addr_t again = FI_ADDR_NOTAVAIL;
  REQUIRE(fi_av_insert(pair.av, name.raw.data(), 1, &again, 0, nullptr) == 1);
  CHECK(fi_tinject(pair.ep[0], "x", 1, again, 1) == 0);
}

TEST_CASE("bad addresses among good ones are marked, and not counted") {
  Pair pair;
  Address raw[2];
  std::size_t bytes = 64;
  fi_getname(&pair.ep[0]->fid, raw[1].raw.data(), &bytes);
  fi_addr_t found[2];
  int errors[2] = {};
  CHECK(fi_av_insert(pair.av, raw, 2, found, FI_SYNC_ERR, errors) == 1);
  CHECK(found[0] == FI_ADDR_NOTAVAIL);
  CHECK(found[1] != FI_ADDR_NOTAVAIL);
  CHECK(errors[0] != 0);
  CHECK(errors[1] == 0);
}

TEST_CASE("a vector with an event queue reports the count as an event") {
  Pair pair;
  fid_eq* events = nullptr;
  fi_eq_attr attr{};
  REQUIRE(fi_eq_open(pair.fabric, &attr, &events, nullptr) == 0);
  fid_av* av = nullptr;
  fi_av_attr av_attr{};
  av_attr.flags = FI_EVENT;
  REQUIRE(fi_av_open(pair.domain, &av_attr, &av, nullptr) == 0);
  REQUIRE(fi_av_bind(av, &events->fid, 0) == 0);
  Address name;
  std::size_t bytes = 64;
  fi_getname(&pair.ep[0]->fid, name.raw.data(), &bytes);
  int context = 0;
  fi_addr_t found = FI_ADDR_NOTAVAIL;
  CHECK(fi_av_insert(av, name.raw.data(), 1, &found, 0, &context) == 0);
  std::uint32_t number = 0;
  fi_eq_entry entry{};
  REQUIRE(fi_eq_read(events, &number, &entry, sizeof entry, 0) == sizeof entry);
  CHECK(number == FI_AV_COMPLETE);
  CHECK(entry.data == 1);
  CHECK(entry.context == &context);
  CHECK(fi_close(&events->fid) == -FI_EBUSY);
  fi_close(&av->fid);
  CHECK(fi_close(&events->fid) == 0);
}

TEST_CASE("an event queue alone makes no insertion asynchronous; one that is has to have a queue") {
  Pair pair;
  Address name;
  std::size_t bytes = 64;
  fi_getname(&pair.ep[0]->fid, name.raw.data(), &bytes);
  fid_eq* events = nullptr;
  fi_eq_attr attr{};
  REQUIRE(fi_eq_open(pair.fabric, &attr, &events, nullptr) == 0);
  fid_av* av = nullptr;
  fi_av_attr av_attr{};
  REQUIRE(fi_av_open(pair.domain, &av_attr, &av, nullptr) == 0);
  REQUIRE(fi_av_bind(av, &events->fid, 0) == 0);
  CHECK(fi_av_insert(av, name.raw.data(), 1, nullptr, 0, nullptr) == 1);
  std::uint32_t number = 0;
  fi_eq_entry entry{};
  CHECK(fi_eq_read(events, &number, &entry, sizeof entry, 0) == -FI_EAGAIN);
  fi_close(&av->fid);
  av_attr.flags = FI_EVENT;
  REQUIRE(fi_av_open(pair.domain, &av_attr, &av, nullptr) == 0);
  CHECK(fi_av_insert(av, name.raw.data(), 1, nullptr, 0, nullptr) == -FI_ENOEQ);
  fi_close(&av->fid);
  fi_close(&events->fid);
}

TEST_CASE("an address takes the lowest place that is free") {
  Pair pair;
  Address names[2];
  std::size_t bytes = 64;
  for (int i = 0; i < 2; ++i) fi_getname(&pair.ep[i]->fid, names[i].raw.data(), &bytes);
  fi_addr_t both[2] = {0, 1};
  REQUIRE(fi_av_remove(pair.av, both, 2, 0) == 0);
  for (int i = 0; i < 2; ++i) {
    fi_addr_t found = FI_ADDR_NOTAVAIL;
    REQUIRE(fi_av_insert(pair.av, names[i].raw.data(), 1, &found, 0, nullptr) == 1);
    CHECK(found == static_cast<fi_addr_t>(i));
  }
}

TEST_CASE("a client finds a server by node and service") {
  const RunDirectory directory;
  Pair pair;
  fid_ep* const server = open_server(pair, "9228");
  fi_addr_t found = FI_ADDR_NOTAVAIL;
  REQUIRE(fi_av_insertsvc(pair.av, "localhost", "9228", &found, 0, nullptr) == 1);
  Address raw;
  Address name;
  std::size_t bytes = 64;
  fi_av_lookup(pair.av, found, raw.raw.data(), &bytes);
  fi_getname(&server->fid, name.raw.data(), &bytes);
  CHECK(raw == name);
  fi_close(&server->fid);
  CHECK(::access((directory.path + "/.service/9228").c_str(), F_OK) != 0);
}

TEST_CASE("a service file that nobody holds is stale, and a new server takes it over") {
  const RunDirectory directory;
  Pair pair;
  REQUIRE(::mkdir((directory.path + "/.service").c_str(), 0700) == 0);
  const Fd left(::open((directory.path + "/.service/9228").c_str(), O_RDWR | O_CREAT, 0600));
  REQUIRE(left);
  Address name;
  std::size_t bytes = 64;
  fi_getname(&pair.ep[1]->fid, name.raw.data(), &bytes);
  REQUIRE(::write(left.number(), name.raw.data(), bytes) == 64);  // left by a killed process
  fi_addr_t found = FI_ADDR_NOTAVAIL;
  SUBCASE("nobody has its place") {}
  SUBCASE("its successor has the name, and has not written yet") {
    struct flock name_taken {};
    name_taken.l_type = F_WRLCK;
    name_taken.l_len = 1;
    REQUIRE(::fcntl(left.number(), F_OFD_SETLK, &name_taken) == 0);
  }
  CHECK(fi_av_insertsvc(pair.av, nullptr, "9228", &found, 0, nullptr) == 0);
  struct flock free_again {};
  free_again.l_type = F_UNLCK;
  REQUIRE(::fcntl(left.number(), F_OFD_SETLK, &free_again) == 0);
  fid_ep* const server = open_server(pair, "9228");
  CHECK(fi_av_insertsvc(pair.av, nullptr, "9228", &found, 0, nullptr) == 1);
  fi_close(&server->fid);
}

TEST_CASE("a child of a server that closes what it has of it takes the name from nobody") {
  const RunDirectory directory;
  Pair pair;
  fid_ep* const server = open_server(pair, "9228");
  const pid_t child = ::fork();
  if (child == 0) {
    fi_close(&server->fid);
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  fi_addr_t found = FI_ADDR_NOTAVAIL;
  CHECK(fi_av_insertsvc(pair.av, nullptr, "9228", &found, 0, nullptr) == 1);
  fi_close(&server->fid);
}

TEST_CASE("a run directory that others may enter is refused") {
  const RunDirectory directory;
  Pair pair;
  REQUIRE(::chmod(directory.path.c_str(), 0755) == 0);
  fi_addr_t found = 0;
  CHECK(fi_av_insertsvc(pair.av, nullptr, "9228", &found, 0, nullptr) == 0);
  CHECK(found == FI_ADDR_NOTAVAIL);
}

TEST_CASE("addresses can be read by people") {
  Pair pair;
  Info info;
  REQUIRE(ask(nullptr, info, "localhost", "9228", 0) == 0);
  char text[200];
  std::size_t bytes = sizeof text;
  CHECK(std::string(fi_av_straddr(pair.av, info->dest_addr, text, &bytes)) ==
        "livebtl:service/9228");
  CHECK(bytes == std::string("livebtl:service/9228").size() + 1);
  char small[8];
  bytes = sizeof small;
  fi_av_straddr(pair.av, info->dest_addr, small, &bytes);
  CHECK(std::string(small) == "livebtl");
}

TEST_CASE("without LIVEBTL_RUNDIR a service is found in the engine's run directory") {
  ::setenv("XDG_RUNTIME_DIR", "/tmp/livebtl-no-such-session", 1);
  const auto rundir = make_run_directory("", run_places());
  REQUIRE(rundir);
  Pair pair;
  fid_ep* const server = open_server(pair, "of-the-engine");
  CHECK(::access((*rundir + "/.service/of-the-engine").c_str(), F_OK) == 0);
  fi_close(&server->fid);
  ::unsetenv("XDG_RUNTIME_DIR");
  ::rmdir((*rundir + "/.service").c_str());
  ::rmdir(rundir->c_str());
}
