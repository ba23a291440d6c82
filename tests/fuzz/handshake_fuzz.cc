// SPDX-License-Identifier: BSD-3-Clause
// Two honest ends of a handshake and a hostile network between them, which the input plays: it
// delivers, alters, cuts, replays, reflects and forges messages. With a common secret nobody may
// open a path to anyone but the other end, with exactly the facts that the other end stated.
//
// Input: one byte of set-up, then steps; see Network::step(). Nonces are fixed, so that a run
// replays.
#include <optional>

#include "core/path/hello_wire.h"
#include "tests/fuzz/reached.h"

namespace {

using namespace livebtl;
using namespace livebtl::core;

Secret secret_of(int fill) {
  std::array<std::byte, 32> key;
  key.fill(static_cast<std::byte>(fill));
  return Secret(key);
}

Nonce nonce_of(int fill) {
  Nonce nonce;
  nonce.fill(static_cast<std::byte>(fill));
  return nonce;
}

HelloFacts facts_of(std::uint64_t process, const char* job) {
  HelloFacts facts;
  facts.job = job;
  facts.process = ProcessId{process};
  facts.label = "rank 1 on a";
  facts.path = 5;
  facts.addresses = {{"tcp", Blob(12, std::byte{1})}, {"sm", Blob(3, std::byte{2})}};
  return facts;
}

Blob encoded(const HelloFacts& facts) { return encode(HelloMessage{{}, {}, facts}, false); }

enum Setup : std::uint8_t {
  kDiallerHasSecret = 1,
  kAcceptorHasSecret = 2,
  kSecretsDiffer = 4,
  kOtherExpected = 8,
  kOtherJob = 16,
};

class Network {
 public:
  explicit Network(std::uint8_t setup)
      : proved_((setup & 7) == (kDiallerHasSecret | kAcceptorHasSecret)),
        theirs_(facts_of(20, (setup & kOtherJob) != 0 ? "other" : "job")),
        dialler_(Handshake::dial((setup & kDiallerHasSecret) != 0 ? secret_of(1) : Secret(), mine_,
                                 ProcessId{(setup & kOtherExpected) != 0 ? 21u : 20u},
                                 nonce_of(1))),
        acceptor_(Handshake::accept((setup & kAcceptorHasSecret) != 0
                                        ? secret_of((setup & kSecretsDiffer) != 0 ? 2 : 1)
                                        : Secret(),
                                    {theirs_.job, theirs_.process}, nonce_of(2))) {
    take(dialler_.start(), kDialler);
  }

  void step(ByteReader& input) {
    const auto code = input.take<std::uint8_t>();
    const Side to = (code & 0x80) != 0 ? kAcceptor : kDialler;
    Blob message = waiting_for(to).value_or(Blob());
    switch (code & 7) {
      case 0:
      case 1:
        break;  // as sent
      case 2:
        alter(message, input);
        break;
      case 3:
        message.resize(std::min<std::size_t>(input.take<std::uint16_t>(), 4096));
        break;
      case 4:
        message = said_[input.take<std::uint8_t>() % said_.size()];
        break;
      case 5:
        message = invented(input);
        break;
      case 6:
        refuse(input);
        return;
      case 7:
        message = waiting_for(to == kDialler ? kAcceptor : kDialler).value_or(Blob());
        break;
    }
    waiting_for(to).reset();
    if (!message.empty()) deliver(message, to);
  }

  void check() {
    if (proved_ && dialler_.open())
      fuzz::must_hold(encoded(dialler_.peer()) == encoded(theirs_), "the acceptor's facts arrive");
    if (proved_ && acceptor_.open())
      fuzz::must_hold(encoded(acceptor_.peer()) == encoded(mine_), "the dialler's facts arrive");
  }
  bool mismatched_opened(std::uint8_t setup) const {
    const bool one_secret = ((setup & 1) != 0) != ((setup & 2) != 0);
    const bool differ = (setup & 7) == 7;
    return (one_secret || differ) && (dialler_.open() || acceptor_.open());
  }
  bool open() const { return dialler_.open() && acceptor_.open(); }
  bool refused() const { return refused_; }

 private:
  enum Side { kDialler, kAcceptor };

  static void alter(Blob& message, ByteReader& input) {
    const auto at = input.take<std::uint16_t>();
    const auto mask = input.take<std::byte>();
    if (!message.empty()) message[at % message.size()] ^= mask;
  }
  static Blob invented(ByteReader& input) {
    const Bytes bytes = input.take_counted(4096);
    return {bytes.begin(), bytes.end()};
  }

  void refuse(ByteReader& input) {
    const auto reason = static_cast<RefuseReason>(1 + input.take<std::uint8_t>() % 8);
    if (!may_refuse_) return;
    may_refuse_ = false;
    take(acceptor_.refuse(reason, {"tcp"}), kAcceptor);
  }

  void deliver(Bytes message, Side to) {
    Handshake::Step step = (to == kDialler ? dialler_ : acceptor_).receive(message);
    fuzz::must_hold(!step.open || step.refused == RefuseReason::kNone, "open or refused");
    fuzz::must_hold(step.refused == RefuseReason::kNone || !step.text.empty(),
                    "a refusal says why");
    if (to == kAcceptor && step.refused != RefuseReason::kNone) may_refuse_ = false;
    if (step.ask) {
      may_refuse_ = true;
      step = acceptor_.answer(theirs_);
      if (step.refused != RefuseReason::kNone) may_refuse_ = false;
    }
    take(std::move(step), to);
  }

  void take(Handshake::Step step, Side from) {
    refused_ = refused_ || step.refused != RefuseReason::kNone;
    if (!step.send) return;
    said_.push_back(*step.send);
    waiting_for(from == kDialler ? kAcceptor : kDialler) = std::move(step.send);
  }

  std::optional<Blob>& waiting_for(Side side) {
    return side == kDialler ? to_dialler_ : to_acceptor_;
  }

  bool proved_;
  HelloFacts mine_ = facts_of(10, "job");
  HelloFacts theirs_;
  Handshake dialler_;
  Handshake acceptor_;
  std::optional<Blob> to_dialler_, to_acceptor_;
  std::vector<Blob> said_;
  bool may_refuse_ = false;
  bool refused_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteReader input({reinterpret_cast<const std::byte*>(data), size});
  const auto setup = input.take<std::uint8_t>();
  Network network(setup);
  while (input.ok() && !input.rest().empty()) network.step(input);
  network.check();
  fuzz::must_hold(!network.mismatched_opened(setup), "different secrets open no path");
  if (network.open() || network.refused()) fuzz::Reached::note(network.open());
  return 0;
}
