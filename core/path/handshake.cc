// SPDX-License-Identifier: BSD-3-Clause
// core/path/handshake.cc -- the handshake's two state machines. Pure; runs under the engine's lock,
// one object per path.
//
// Each MAC covers every byte that both sides have said so far, so what a MAC proves cannot be moved
// into another conversation: the other side's nonce is in it. Each message has a purpose string of
// its own, so it cannot be reflected. A refusal's MAC covers the HELLO and the refusal, as the
// refusing side may have seen no more; it names the refusing process, so that a refusal relayed
// from somewhere else does not pass for that of the process that was dialled.
#include "core/path/handshake.h"

#include "base/assert.h"
#include "core/path/hello_wire.h"
#include "transports/interface/transport.h"

namespace livebtl::core {
namespace {

constexpr std::string_view kHelloPurpose = "livebtl hello";
constexpr std::string_view kChallengePurpose = "livebtl hello challenge";
constexpr std::string_view kProofPurpose = "livebtl hello proof";
constexpr std::string_view kWelcomePurpose = "livebtl hello welcome";
constexpr std::string_view kDiallerRefuses = "livebtl hello refused by dialler";
constexpr std::string_view kAcceptorRefuses = "livebtl hello refused by acceptor";

constexpr const char* kLevelsDiffer =
    "one side authenticates and the other does not: LIVEBTL_AUTH must be the same everywhere";
constexpr const char* kSecretsDiffer =
    "the peer does not know this job's secret: it is an unknown process, or its "
    "LIVEBTL_SECRET_FILE differs";

// The largest message leaves no room to spare: head, nonce, dialled, fixed facts, job, label,
// addresses, MAC.
static_assert(4 + 16 + 8 + 65 + (2 + 128) + (2 + 96) + kHelloAddressBytesMax + sizeof(Mac) <=
              kUntrustedPayloadMax);

Blob with_counted(const Blob& front, Bytes back) {
  ByteWriter writer;
  writer.put_bytes(front);
  writer.put_counted(back);
  return writer.take();
}

bool may_be_unproved(RefuseReason reason) noexcept {
  return reason == RefuseReason::kMalformed || reason == RefuseReason::kWrongJob ||
         reason == RefuseReason::kNotAuthentic;
}

}  // namespace

Handshake Handshake::dial(const Secret& secret, HelloFacts mine, ProcessId expected,
                          const Nonce& nonce) {
  LIVEBTL_ASSERT(check_facts(mine).has_value(), "own facts are within the hello's limits");
  Handshake handshake(secret, nonce, true);
  handshake.mine_ = std::move(mine);
  handshake.dialled_ = expected;
  return handshake;
}

Handshake Handshake::accept(const Secret& secret, const Identity& own, const Nonce& nonce) {
  Handshake handshake(secret, nonce, false);
  handshake.mine_.job = own.job;
  handshake.mine_.process = own.process;
  handshake.state_ = State::kAwaitHello;
  return handshake;
}

Handshake::Step Handshake::start() {
  LIVEBTL_ASSERT(dialler_ && state_ == State::kNew, "a dialler starts once");
  hello_ = seal(encode(HelloMessage{nonce_, dialled_, mine_}, secret_.present()), kHelloPurpose);
  state_ = State::kAwaitChallenge;
  return {.send = hello_};
}

Handshake::Step Handshake::receive(Bytes message) {
  LIVEBTL_ASSERT(state_ != State::kNew, "a dialler starts before it receives");
  if (state_ == State::kOver)
    return {.refused = RefuseReason::kMalformed,
            .text = "a hello message after the end of the handshake"};
  const std::optional<HelloHead> head = decode_hello_head(message);
  if (!head) return stop(RefuseReason::kMalformed, "not a hello message of this version");
  if (head->type == HelloType::kRefuse && state_ != State::kAwaitHello) return on_refuse(message);
  if ((head->authenticated != 0) != secret_.present())
    return stop(RefuseReason::kNotAuthentic, kLevelsDiffer);
  if (state_ == State::kAwaitHello && head->type == HelloType::kHello) return on_hello(message);
  if (state_ == State::kAwaitChallenge && head->type == HelloType::kChallenge)
    return on_challenge(message);
  if (state_ == State::kAwaitProof && head->type == HelloType::kProof) return on_proof(message);
  if (state_ == State::kAwaitWelcome && head->type == HelloType::kWelcome)
    return on_welcome(message);
  return stop(RefuseReason::kMalformed, "a hello message out of turn");
}

namespace {

std::string other_job(const std::string& theirs, const std::string& mine) {
  return "the peer belongs to job " + theirs + " and this process to " + mine +
         "; where no launcher sets it, LIVEBTL_JOB must be the same in all processes of a job";
}

}  // namespace

// The job is checked before the MAC, so that mixed-up jobs are told what is wrong; only members are
// told which process this is.
Handshake::Step Handshake::on_hello(Bytes message) {
  const Bytes sealed = message;
  const bool proved = unseal(message, kHelloPurpose);
  std::optional<HelloMessage> hello = decode_hello(message);
  if (!hello) return stop(RefuseReason::kMalformed, "a malformed HELLO");
  hello_.assign(sealed.begin(), sealed.end());
  peer_ = std::move(hello->facts);
  dialled_ = hello->dialled;
  if (peer_.job != mine_.job) return stop(RefuseReason::kWrongJob, other_job(peer_.job, mine_.job));
  if (!proved) return stop(RefuseReason::kNotAuthentic, kSecretsDiffer);
  peer_proved_ = true;
  if (dialled_ != ProcessId{0} && dialled_ != mine_.process)
    return stop(RefuseReason::kNotMe, "the peer dialled another process");
  // A process may talk to itself; the engine recognises itself by the path's id.
  if (peer_.process == mine_.process && dialled_ != mine_.process)
    return stop(RefuseReason::kNotMe, "the peer has this process's own id");
  state_ = State::kAsked;
  return {.ask = true};
}

Handshake::Step Handshake::answer(HelloFacts mine) {
  LIVEBTL_ASSERT(state_ == State::kAsked, "an acceptor answers once, when asked");
  LIVEBTL_ASSERT(mine.job == mine_.job && mine.process == mine_.process,
                 "an acceptor answers as whom it was made");
  mine_ = std::move(mine);
  mine_.path = peer_.path;
  LIVEBTL_ASSERT(check_facts(mine_).has_value(), "own facts are within the hello's limits");
  state_ = State::kAwaitProof;
  return {.send =
              seal(encode(ChallengeMessage{nonce_, mine_}, secret_.present()), kChallengePurpose)};
}

Handshake::Step Handshake::on_challenge(Bytes message) {
  if (!unseal(message, kChallengePurpose)) return stop(RefuseReason::kNotAuthentic, kSecretsDiffer);
  std::optional<ChallengeMessage> challenge = decode_challenge(message);
  if (!challenge || challenge->facts.path != mine_.path)
    return stop(RefuseReason::kMalformed, "a malformed CHALLENGE");
  peer_ = std::move(challenge->facts);
  peer_proved_ = true;
  if (peer_.job != mine_.job) return stop(RefuseReason::kWrongJob, other_job(peer_.job, mine_.job));
  if (dialled_ != ProcessId{0} && peer_.process != dialled_)
    return stop(RefuseReason::kNotMe, "another process answered than was dialled");
  if (peer_.process == mine_.process && dialled_ != mine_.process)
    return stop(RefuseReason::kNotMe, "this process's own id answered");
  state_ = State::kAwaitWelcome;
  return {.send = seal(encode_hello_head(HelloType::kProof, secret_.present()), kProofPurpose)};
}

Handshake::Step Handshake::on_proof(Bytes message) {
  if (!unseal(message, kProofPurpose)) return stop(RefuseReason::kNotAuthentic, kSecretsDiffer);
  if (message.size() != sizeof(HelloHead))
    return stop(RefuseReason::kMalformed, "a malformed PROOF");
  state_ = State::kOpen;
  return {.send = seal(encode_hello_head(HelloType::kWelcome, secret_.present()), kWelcomePurpose),
          .open = true};
}

Handshake::Step Handshake::on_welcome(Bytes message) {
  if (!unseal(message, kWelcomePurpose)) return stop(RefuseReason::kNotAuthentic, kSecretsDiffer);
  if (message.size() != sizeof(HelloHead))
    return stop(RefuseReason::kMalformed, "a malformed WELCOME");
  state_ = State::kOpen;
  return {.open = true};
}

Handshake::Step Handshake::on_refuse(Bytes message) {
  state_ = State::kOver;
  Step step{.refused = RefuseReason::kNotAuthentic,
            .refused_by_peer = true,
            .text = "a refusal that is malformed, unproved, or of another process"};
  if (message.size() < sizeof(HelloHead) + sizeof(Mac)) return step;
  const Bytes body = message.first(message.size() - sizeof(Mac));
  std::optional<RefuseMessage> refusal = decode_refuse(body);
  if (!refusal) return step;
  Mac mac;
  std::memcpy(mac.data(), message.data() + body.size(), sizeof mac);
  const bool proved = equal_in_constant_time(mac, mac_of_refusal(body, !dialler_));
  if (!may_be_unproved(refusal->reason) && (!proved || !by_whom_it_is_due(*refusal))) return step;
  step.refused = refusal->reason;
  step.text = std::string("the peer refused: ") + to_text(refusal->reason);
  if (proved) step.try_instead = std::move(refusal->try_instead);
  return step;
}

// "Not me" by its nature comes from another process.
bool Handshake::by_whom_it_is_due(const RefuseMessage& refusal) const noexcept {
  const ProcessId other = dialler_ ? dialled_ : peer_.process;
  return refusal.reason == RefuseReason::kNotMe || other == ProcessId{0} ||
         refusal.process == other;
}

Handshake::Step Handshake::refuse(RefuseReason reason, std::vector<std::string> try_instead) {
  LIVEBTL_ASSERT(!dialler_ && (state_ == State::kAsked || state_ == State::kAwaitProof ||
                               state_ == State::kOpen),
                 "an acceptor refuses when it was asked");
  LIVEBTL_ASSERT(reason != RefuseReason::kNone && try_instead.size() <= kTryInsteadMax,
                 "a refusal has a reason and names at most 8 transports");
  return stop(reason, to_text(reason), std::move(try_instead));
}

// Ends the handshake from our side: one REFUSE, and the reason for the log.
Handshake::Step Handshake::stop(RefuseReason reason, std::string text,
                                std::vector<std::string> try_instead) {
  state_ = State::kOver;
  const ProcessId named = peer_proved_ ? mine_.process : ProcessId{0};
  const Blob body = encode(RefuseMessage{reason, named, std::move(try_instead)}, secret_.present());
  ByteWriter writer;
  writer.put_bytes(body);
  writer.put(mac_of_refusal(body, dialler_));
  return {.send = writer.take(), .refused = reason, .text = std::move(text)};
}

Mac Handshake::mac_of_refusal(Bytes body, bool by_dialler) const {
  return secret_.mac(by_dialler ? kDiallerRefuses : kAcceptorRefuses,
                     with_counted(with_counted({}, hello_), body));
}

// Appends our message to the transcript, and the MAC of the whole transcript to our message.
Blob Handshake::seal(Blob body, std::string_view purpose) {
  transcript_ = with_counted(transcript_, body);
  const Mac mac = secret_.mac(purpose, transcript_);
  body.insert(body.end(), mac.begin(), mac.end());
  return body;
}

// Strips the MAC from the peer's message. False: too short, or the MAC is wrong.
bool Handshake::unseal(Bytes& message, std::string_view purpose) {
  if (message.size() < sizeof(HelloHead) + sizeof(Mac)) return false;
  Mac mac;
  message = message.first(message.size() - sizeof mac);
  std::memcpy(mac.data(), message.data() + message.size(), sizeof mac);
  transcript_ = with_counted(transcript_, message);
  return equal_in_constant_time(mac, secret_.mac(purpose, transcript_));
}

}  // namespace livebtl::core
