// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/promises.cc -- what one-sided operations promise, between separate processes:
// for transports that cannot have both ends in one process, as conformance_regions does. Through
// the C++ interface, beside MPI in the same process. Counts as messages: one per operation.
//
// Each rank does all of it to its right neighbour, in every round: what is refused touches nothing,
// every atomic does there what it does at home, a get brings what was put last, and the key of a
// region that has gone reaches nothing.
#include <algorithm>
#include <array>

#include "promises.h"

namespace {

using e2e::good;
using e2e::Memory;
using e2e::Proof;
using e2e::Step;
using livebtl::Access;
using livebtl::AtomicOp;
using livebtl::Errc;
using livebtl::Operation;
using livebtl::Remote;
using livebtl::Scalar;

/// An eager one, the largest in one frame, and a large one.
constexpr std::size_t kSizes[] = {8, 8192, 300'000};
constexpr std::size_t kRegionBytes = 400'000;
constexpr std::uint64_t kWritesARound = 100;

/// Named after what peers may do, or do, there.
enum Region : std::size_t { kWritten, kReadOnly, kWriteOnly, kNobodys, kScalars, kHome, kRegions };
constexpr Access kRights[kRegions] = {Access::kReadWrite, Access::kRead,      Access::kWrite,
                                      Access::kNone,      Access::kReadWrite, Access::kReadWrite};
using Keys = std::array<std::uint64_t, kRegions>;

struct Contact {
  livebtl::Address address;
  Keys keys;
};

class Promises {
 public:
  Promises(Proof& proof, livebtl::Engine& engine)
      : port_(good(engine.open_port({}))),
        reach_{proof, engine, *port_,
               e2e::Chance(proof.options().seed * 1000 + static_cast<std::uint64_t>(proof.rank()))},
        right_((proof.rank() + 1) % proof.size()),
        writers_(reach_,
                 kRegionBytes / (static_cast<std::size_t>(proof.size()) * e2e::Writers::kSlots),
                 0) {
    for (Memory& each : memory_) each.resize(kRegionBytes);
  }

  void round() {
    register_all();
    refusals();
    atomics();
    writers_.begin_round(kWritesARound);
    while (writers_.move()) reach_.engine.progress();
    MPI_Barrier(MPI_COMM_WORLD);
    deregister_all();
    untouched([&] {
      for (const std::uint64_t key : keys_right_) expect_refused({key, 0});
    });
    std::printf("{\"rank\": %d, \"rounds\": %llu}\n", reach_.proof.rank(),
                static_cast<unsigned long long>(reach_.proof.round()));
    std::fflush(stdout);
  }

 private:
  // Collective.
  void register_all() {
    Contact mine{port_->address(), {}};
    for (std::size_t i = 0; i < kRegions; ++i) {
      livebtl::RegionRequest request;
      request.base = memory_[i].data();
      request.bytes = kRegionBytes;
      request.access = kRights[i];
      mine.keys[i] = good(port_->register_region(request));
    }
    std::vector<Contact> all(static_cast<std::size_t>(reach_.proof.size()));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    reach_.contacts.clear();
    for (const Contact& each : all) reach_.contacts.push_back({each.address, each.keys[kWritten]});
    reach_.peers.clear();
    for (const Contact& each : all) reach_.peers.push_back(good(reach_.engine.peer(each.address)));
    keys_ = mine.keys;
    keys_right_ = all[static_cast<std::size_t>(right_)].keys;
  }

  // Collective.
  void deregister_all() {
    for (const std::uint64_t key : keys_)
      reach_.proof.expect(port_->deregister_region(key).has_value(), "a region stays");
    MPI_Barrier(MPI_COMM_WORLD);
  }

  template <class Start>
  Errc finish(Start start) {
    Step step;
    reach_.begin(step, [&] { return start(step); });
    while (!step.idle()) reach_.engine.progress();
    reach_.proof.note_sent(8);
    reach_.proof.note_received(8);
    return step.code;
  }
  Errc put(Remote remote, const Memory& bytes) {
    const livebtl::Slice slice{bytes.data(), bytes.size()};
    return finish([&](Operation& operation) {
      return port_->put({.to = reach_.at(right_), .remote = remote, .slices = {&slice, 1}},
                        operation);
    });
  }
  Errc get(Remote remote, Memory& into) {
    const livebtl::MutableSlice slice{into.data(), into.size()};
    return finish([&](Operation& operation) {
      return port_->get({.to = reach_.at(right_), .remote = remote, .slices = {&slice, 1}},
                        operation);
    });
  }

  Errc atomic(livebtl::AtomicRequest request, int rank, Remote remote, void* found) {
    request.to = reach_.at(rank);
    request.remote = remote;
    request.fetched = found;
    return finish([&](Operation& operation) { return port_->atomic(request, operation); });
  }

  void expect(Errc code, Errc wanted, const char* what) {
    if (code != wanted) reach_.proof.error(Proof::Fault::kWrong, what);
  }
  void expect_refused(Remote remote, std::size_t bytes) {
    Memory into(bytes, std::byte{0x77});
    expect(put(remote, into), Errc::kBadKey, "a put was not refused");
    expect(get(remote, into), Errc::kBadKey, "a get was not refused");
    reach_.proof.expect(into == Memory(bytes, std::byte{0x77}), "a get that is refused brings");
  }
  void expect_refused(Remote remote) {
    for (const std::size_t bytes : kSizes) expect_refused(remote, bytes);
    expect_addition_refused(remote);
  }
  void expect_addition_refused(Remote remote, Errc how = Errc::kBadKey) {
    const std::uint64_t one = 1;
    std::uint64_t found = 77;
    livebtl::AtomicRequest addition;
    addition.operand = &one;
    expect(atomic(addition, right_, remote, &found), how, "an addition was not refused");
    reach_.proof.expect(found == 77, "an addition that is refused brings");
  }

  /// Collective: the others do the same meanwhile, and this rank's memory stays as it is.
  template <class Accesses>
  void untouched(Accesses accesses) {
    const std::array<Memory, kRegions> before = memory_;
    MPI_Barrier(MPI_COMM_WORLD);
    accesses();
    MPI_Barrier(MPI_COMM_WORLD);
    reach_.proof.expect(memory_ == before, "what was refused was written");
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void refusals() {
    const std::uint64_t key = keys_right_[kWritten];
    untouched([&] {
      expect_refused({key ^ (std::uint64_t{1} << 32), 0});
      expect_refused({key + 1000, 0});
      expect_refused({key, ~std::uint64_t{0} - 7});
      expect_refused({keys_right_[kNobodys], 0});
      for (const std::size_t bytes : kSizes) {
        expect_refused({key, kRegionBytes - bytes + 1}, bytes);
        half_allowed(bytes);
      }
      expect_addition_refused({key, kRegionBytes - 7});
      expect_addition_refused({key, 4}, Errc::kInvalid);  // across two words
      expect_addition_refused({keys_right_[kReadOnly], 0});
      expect_addition_refused({keys_right_[kWriteOnly], 0});
    });
  }

  void half_allowed(std::size_t bytes) {
    Memory into(bytes, std::byte{1});
    expect(put({keys_right_[kReadOnly], 0}, into), Errc::kBadKey, "what is to be read was put");
    expect(get({keys_right_[kWriteOnly], 0}, into), Errc::kBadKey, "what is to be put was read");
    expect(get({keys_right_[kReadOnly], 0}, into), Errc::kOk, "what may be read was not");
    reach_.proof.expect(into == Memory(bytes), "a get brought what is not there");
  }

  void atomics() {
    for (int op = 0; op <= static_cast<int>(AtomicOp::kMaskedSwap); ++op) {
      for (int scalar = 0; scalar <= static_cast<int>(Scalar::kF64); ++scalar) {
        if (!e2e::is_there(static_cast<AtomicOp>(op), static_cast<Scalar>(scalar))) continue;
        for (const bool fetches : {true, false})
          atomic_is_as_at_home(static_cast<AtomicOp>(op), static_cast<Scalar>(scalar), fetches);
      }
    }
  }
  /// Several scalars at once: what it leaves at the neighbour, and fetches from there, matches what
  /// the same operation does to this rank's own memory.
  void atomic_is_as_at_home(AtomicOp op, Scalar scalar, bool fetches) {
    const Memory operand = e2e::any_scalars(scalar, reach_.chance);
    const Memory before = e2e::any_scalars(scalar, reach_.chance);
    Memory compare = e2e::any_scalars(scalar, reach_.chance);
    std::copy_n(before.begin(), before.size() / 2, compare.begin());  // half match what is there
    Memory found(before.size()), found_at_home(before.size()), after(before.size());
    livebtl::AtomicRequest request;
    request.op = op;
    request.scalar = scalar;
    request.count = e2e::kCount;
    request.operand = op == AtomicOp::kRead ? nullptr : operand.data();
    request.compare = op >= AtomicOp::kCompareSwap ? compare.data() : nullptr;
    std::copy(before.begin(), before.end(), memory_[kHome].begin());
    expect(put({keys_right_[kScalars], 0}, before), Errc::kOk, "scalars were not put");
    expect(atomic(request, right_, {keys_right_[kScalars], 0}, fetches ? found.data() : nullptr),
           Errc::kOk, "an atomic was not done");
    expect(atomic(request, reach_.proof.rank(), {keys_[kHome], 0},
                  fetches ? found_at_home.data() : nullptr),
           Errc::kOk, "an atomic was not done at home");
    expect(get({keys_right_[kScalars], 0}, after), Errc::kOk, "scalars were not got");
    reach_.proof.expect(std::equal(after.begin(), after.end(), memory_[kHome].begin()),
                        "an atomic does something else there than at home");
    reach_.proof.expect(found == found_at_home, "an atomic finds something else there");
    if (fetches) reach_.proof.expect(found == before, "an atomic did not find what was there");
  }

  std::unique_ptr<livebtl::Port> port_;
  e2e::Reach reach_;
  const int right_;
  std::array<Memory, kRegions> memory_;
  Keys keys_{}, keys_right_{};
  e2e::Writers writers_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 1;
  {
    const auto engine = good(livebtl::Engine::acquire());
    Proof proof(argc, argv, "promises");
    Promises promises(proof, *engine);
    while (proof.next_round()) promises.round();
    MPI_Barrier(MPI_COMM_WORLD);
    code = proof.finish();
  }
  MPI_Finalize();
  return code;
}
