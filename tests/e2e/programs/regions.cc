// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/regions.cc -- put, get and fetch-and-add through the C++ interface, beside MPI
// in the same process, many at once. Counts as messages: one per operation.
//
// Each rank owns a region: counters first, then a block for each other rank, which only that rank
// uses. What must hold: every number drawn from a counter was drawn once, the counters are the sum
// of what was added, and a get brings what was put last. Between rounds each owner gives its region
// another key; the old one must then be refused. After each round a rank prints how much it has
// added so far.
#include "regions.h"

#include <cstdio>

namespace {

using e2e::Contact;
using e2e::good;
using e2e::Proof;

constexpr std::uint64_t kAddsARound = 2000;
constexpr std::uint64_t kWritesARound = 60;

class Storm {
 public:
  Storm(Proof& proof, livebtl::Engine& engine)
      : port_(good(engine.open_port({}))),
        reach_{proof, engine, *port_,
               e2e::Chance(proof.options().seed * 1000 + static_cast<std::uint64_t>(proof.rank()))},
        slot_bytes_(std::max<std::size_t>(proof.options().bytes_max / e2e::Writers::kSlots, 4096)),
        memory_(e2e::Adders::kBytes +
                static_cast<std::size_t>(proof.size()) * e2e::Writers::kSlots * slot_bytes_),
        adders_(reach_),
        writers_(reach_, slot_bytes_, e2e::Adders::kBytes) {}

  void round() {
    adders_.begin_round(memory_.data(), kAddsARound);  // nobody has the new key yet
    writers_.begin_round(kWritesARound);
    register_anew();
    for (bool busy = true; busy;) {
      busy = adders_.move();
      busy |= writers_.move();
      reach_.engine.progress();
    }
    MPI_Barrier(MPI_COMM_WORLD);  // nobody adds any more
    adders_.check(memory_.data());
    tell();
  }

 private:
  void tell() const {
    std::printf("{\"rank\": %d, \"fetch_adds\": %llu, \"in_flight\": %llu}\n", reach_.proof.rank(),
                static_cast<unsigned long long>(adders_.adds()),
                static_cast<unsigned long long>(adders_.in_flight()));
    std::fflush(stdout);
  }
  // Collective.
  void register_anew() {
    const int watched = reach_.other_rank();
    const std::uint64_t old = reach_.contacts.empty() ? 0 : reach_.key(watched);
    if (key_ != 0 && !port_->deregister_region(key_)) reach_.proof.expect(false, "a region stays");
    livebtl::RegionRequest request;
    request.base = memory_.data();
    request.bytes = memory_.size();
    key_ = good(port_->register_region(request));
    const Contact mine{port_->address(), key_};
    reach_.contacts.resize(static_cast<std::size_t>(reach_.proof.size()));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, reach_.contacts.data(), sizeof mine, MPI_BYTE,
                  MPI_COMM_WORLD);
    if (reach_.peers.empty()) {
      for (const Contact& each : reach_.contacts)
        reach_.peers.push_back(good(reach_.engine.peer(each.address)));
    }
    if (old != 0) expect_refused(watched, old);
  }

  void expect_refused(int rank, std::uint64_t key) {
    e2e::Step step;
    const std::uint64_t word = ~std::uint64_t{0};
    const livebtl::Slice slice{&word, sizeof word};
    reach_.begin(step, [&] {
      return port_->put({.to = reach_.at(rank), .remote = {key, 0}, .slices = {&slice, 1}}, step);
    });
    while (!step.idle()) reach_.engine.progress();
    reach_.proof.expect(step.code == livebtl::Errc::kBadKey, "a region that has gone was written");
  }

  std::unique_ptr<livebtl::Port> port_;
  e2e::Reach reach_;
  const std::size_t slot_bytes_;
  std::vector<std::byte> memory_;
  std::uint64_t key_ = 0;
  e2e::Adders adders_;
  e2e::Writers writers_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 1;
  {
    const auto engine = good(livebtl::Engine::acquire());
    Proof proof(argc, argv, "regions");
    Storm storm(proof, *engine);
    while (proof.next_round()) storm.round();
    MPI_Barrier(MPI_COMM_WORLD);
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
