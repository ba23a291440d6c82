// SPDX-License-Identifier: BSD-3-Clause
// Completion queues and event queues.
#include <doctest/doctest.h>
#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

#include "pair.h"

using namespace livebtl;
using namespace livebtl::fake;

namespace {

/// The source that fi_cq_readfrom gives endpoint 1 for a message from endpoint 0.
fi_addr_t sender_of_message(Pair& pair) {
  char buffer[4];
  fi_trecv(pair.ep[1], buffer, 4, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr);
  fi_tinject(pair.ep[0], "x", 1, pair.address[1], 1);
  fi_cq_tagged_entry entry;
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  REQUIRE(fi_cq_readfrom(pair.cq[1], &entry, 1, &source) == 1);
  return source;
}

}  // namespace

TEST_CASE("good entries come before the news of an error") {
  Pair pair;
  char buffer[4];
  int good = 0;
  int bad = 0;
  fi_trecv(pair.ep[1], buffer, 4, nullptr, FI_ADDR_UNSPEC, 1, 0, &good);
  fi_trecv(pair.ep[1], buffer, 4, nullptr, FI_ADDR_UNSPEC, 2, 0, &bad);
  fi_tinject(pair.ep[0], "x", 1, pair.address[1], 1);
  fi_cq_tagged_entry entries[4];
  CHECK(fi_cq_read(pair.cq[1], nullptr, 0) == -FI_EAGAIN);
  fi_cancel(&pair.ep[1]->fid, &bad);
  REQUIRE(fi_cq_read(pair.cq[1], entries, 4) == 1);
  CHECK(entries[0].op_context == &good);
  CHECK(fi_cq_read(pair.cq[1], entries, 4) == -FI_EAVAIL);
}

TEST_CASE("fi_cq_readfrom names the sender") {
  Pair pair;
  CHECK(sender_of_message(pair) == pair.address[0]);
}

TEST_CASE("fi_cq_readfrom names a sender whose address was inserted twice and removed once") {
  Pair pair;
  Address name;
  std::size_t bytes = 64;
  fi_getname(&pair.ep[0]->fid, name.raw.data(), &bytes);
  fi_addr_t again = FI_ADDR_NOTAVAIL;
  REQUIRE(fi_av_insert(pair.av, name.raw.data(), 1, &again, 0, nullptr) == 1);
  REQUIRE(fi_av_remove(pair.av, &pair.address[0], 1, 0) == 0);
  CHECK(sender_of_message(pair) == again);
}

TEST_CASE("a signal ends a wait that was to last long, before or during it") {
  Pair pair;
  fi_cq_tagged_entry entry;
  fi_cq_signal(pair.cq[0]);
  CHECK(fi_cq_sread(pair.cq[0], &entry, 1, nullptr, -1) == -FI_EAGAIN);
  std::thread signaller([&] { fi_cq_signal(pair.cq[0]); });
  CHECK(fi_cq_sread(pair.cq[0], &entry, 1, nullptr, -1) == -FI_EAGAIN);
  signaller.join();
  CHECK(fi_cq_sread(pair.cq[0], &entry, 1, nullptr, 1) == -FI_EAGAIN);
}

TEST_CASE("a sleeper on a queue's descriptor wakes when a completion comes") {
  PairOptions options;
  options.wait = FI_WAIT_FD;
  Pair pair(options);
  int fd = -1;
  REQUIRE(fi_control(&pair.cq[1]->fid, FI_GETWAIT, &fd) == 0);
  char buffer[4];
  fi_trecv(pair.ep[1], buffer, 4, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr);
  fid_t objects[] = {&pair.cq[1]->fid};
  const std::uint64_t before = fake::engine().leaves;
  REQUIRE(fi_trywait(pair.fabric, objects, 1) == 0);
  CHECK(fake::engine().leaves == before + 1);  // the agent should take over at once
  pollfd waiting{fd, POLLIN, 0};
  CHECK(::poll(&waiting, 1, 0) == 0);
  fi_tinject(pair.ep[0], "x", 1, pair.address[1], 1);
  engine().progress();
  CHECK(::poll(&waiting, 1, -1) == 1);
  CHECK(fi_trywait(pair.fabric, objects, 1) == -FI_EAGAIN);
  CHECK(fake::engine().leaves == before + 1);  // there is something to read
  fi_cq_tagged_entry entry;
  CHECK(pair.next(1, entry) == 1);
  CHECK(fi_trywait(pair.fabric, objects, 1) == 0);
}

TEST_CASE("a queue in use, and a domain in use, cannot be closed") {
  Pair pair;
  CHECK(fi_close(&pair.cq[0]->fid) == -FI_EBUSY);
  CHECK(fi_close(&pair.av->fid) == -FI_EBUSY);
  CHECK(fi_close(&pair.domain->fid) == -FI_EBUSY);
  CHECK(fi_close(&pair.fabric->fid) == -FI_EBUSY);
}

TEST_CASE("closing an endpoint with open receives leaves its shared queue quiet") {
  Pair pair;
  fid_ep* third = nullptr;
  REQUIRE(fi_endpoint(pair.domain, pair.info.get(), &third, nullptr) == 0);
  REQUIRE(fi_ep_bind(third, &pair.av->fid, 0) == 0);
  CHECK(fi_enable(third) == -FI_ENOCQ);
  REQUIRE(fi_ep_bind(third, &pair.cq[0]->fid, FI_TRANSMIT | FI_RECV) == 0);
  REQUIRE(fi_enable(third) == 0);
  char buffer[4];
  fi_trecv(third, buffer, 4, nullptr, FI_ADDR_UNSPEC, 1, 0, buffer);
  REQUIRE(fi_close(&third->fid) == 0);
  fi_cq_tagged_entry entry;
  CHECK(pair.next(0, entry) == -FI_EAGAIN);
}

TEST_CASE("a signal keeps from sleep who was about to sleep on a queue's descriptor, once") {
  PairOptions options;
  options.wait = FI_WAIT_FD;
  Pair pair(options);
  fid* sleeps_on = &pair.cq[0]->fid;
  fi_cq_signal(pair.cq[0]);
  CHECK(fi_trywait(pair.fabric, &sleeps_on, 1) == -FI_EAGAIN);
  CHECK(fi_trywait(pair.fabric, &sleeps_on, 1) == 0);
}

TEST_CASE("an error that was announced is read, whatever is complete meanwhile") {
  Pair pair;
  char buffer[4];
  int bad = 0, good = 0;
  fi_cq_tagged_entry entry;
  fi_trecv(pair.ep[1], buffer, 4, nullptr, FI_ADDR_UNSPEC, 2, 0, &bad);
  fi_cancel(&pair.ep[1]->fid, &bad);
  REQUIRE(pair.next(1, entry) == -FI_EAVAIL);
  const iovec piece = {buffer, 1};
  fi_msg_tagged msg{};
  msg.msg_iov = &piece;
  msg.iov_count = 1;
  msg.addr = pair.address[0];
  msg.context = &good;
  REQUIRE(fi_tsendmsg(pair.ep[1], &msg, FI_INJECT | FI_COMPLETION) == 0);
  fi_cq_err_entry error{};
  REQUIRE(fi_cq_readerr(pair.cq[1], &error, 0) == 1);
  CHECK(error.op_context == &bad);
  REQUIRE(pair.next(1, entry) == 1);
  CHECK(entry.op_context == &good);
}

TEST_CASE("an event queue gives back what was written, in order, and keeps what was peeked") {
  Pair pair;
  fid_eq* events = nullptr;
  fi_eq_attr attr{};
  attr.flags = FI_WRITE;
  attr.wait_obj = FI_WAIT_FD;
  REQUIRE(fi_eq_open(pair.fabric, &attr, &events, nullptr) == 0);
  fi_eq_entry entry{};
  std::uint32_t number = 0;
  CHECK(fi_eq_read(events, &number, &entry, sizeof entry, 0) == -FI_EAGAIN);
  for (std::uint64_t i = 1; i <= 2; ++i) {
    entry.data = i;
    REQUIRE(fi_eq_write(events, FI_NOTIFY, &entry, sizeof entry, 0) == sizeof entry);
  }
  REQUIRE(fi_eq_read(events, &number, &entry, sizeof entry, FI_PEEK) == sizeof entry);
  CHECK(entry.data == 1);
  REQUIRE(fi_eq_sread(events, &number, &entry, sizeof entry, -1, 0) == sizeof entry);
  CHECK(entry.data == 1);
  CHECK(fi_eq_read(events, &number, &entry, 1, 0) == -FI_ETOOSMALL);
  REQUIRE(fi_eq_read(events, &number, &entry, sizeof entry, 0) == sizeof entry);
  CHECK(entry.data == 2);
  CHECK(fi_close(&events->fid) == 0);
}

TEST_CASE("threads that post and read at once lose and repeat nothing") {
  Pair pair;
  constexpr std::uintptr_t kEach = 5000;
  constexpr std::uintptr_t kThreads = 3;
  std::vector<std::atomic<int>> seen(kEach * kThreads);
  std::atomic<std::uintptr_t> read{0};
  std::vector<std::thread> threads;
  for (std::uintptr_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uintptr_t i = 0; i < kEach; ++i) {
        void* const context = reinterpret_cast<void*>(t * kEach + i);
        while (fi_tsend(pair.ep[0], "x", 1, nullptr, pair.address[1], 1, context) != 0) {
          std::this_thread::yield();
        }
      }
    });
    threads.emplace_back([&] {
      fi_cq_tagged_entry entries[8];
      while (read.load() < kEach * kThreads) {
        const ssize_t count = fi_cq_read(pair.cq[0], entries, 8);
        for (ssize_t i = 0; i < count; ++i) {
          ++seen[reinterpret_cast<std::uintptr_t>(entries[i].op_context)];
        }
        if (count > 0) read.fetch_add(static_cast<std::uintptr_t>(count));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t wrong = 0;
  for (const auto& count : seen) wrong += count == 1 ? 0 : 1;
  CHECK(wrong == 0);
}
