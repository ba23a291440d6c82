// SPDX-License-Identifier: BSD-3-Clause
// transports/tcp/tcp_endpoint.cc -- life and receiving half of an endpoint (see tcp_endpoint.h);
// the sending half is in tcp_endpoint_send.cc.
#include "transports/tcp/tcp_endpoint.h"

#include <sys/epoll.h>

#include <cerrno>

#include "base/assert.h"

namespace livebtl::tcp {
namespace {

/// Reads in one move; then others have their turn.
constexpr int kReadsPerMove = 8;

std::string ends_text(const std::optional<SocketAddress>& local, const std::string& remote) {
  return "tcp " + (local ? to_text(*local) : "?") + " -> " + remote;
}

}  // namespace

TcpEndpoint::TcpEndpoint(Shared& shared, std::unique_ptr<Dialler> dialler)
    : shared_(shared),
      state_(State::kDialling),
      framer_(core::kUntrustedPayloadMax),
      dialler_(std::move(dialler)),
      described_("tcp -> " + dialler_->targets()) {
  dialler_->before_close = [this](int fd) { unwatch(fd); };
  shared_.dialling.add(*this);
  wait_for_turn();
}

TcpEndpoint::TcpEndpoint(Shared& shared, Fd fd, const std::string& from, std::uint64_t peer_node)
    : shared_(shared),
      state_(State::kDialling),
      counted_untrusted_(true),
      framer_(core::kUntrustedPayloadMax) {
  ++shared_.untrusted;
  described_ = ends_text(local_end(fd.number()), from);
  become_open(std::move(fd), peer_node, State::kOwesPreamble);
  wait_for_turn();
}

TcpEndpoint::~TcpEndpoint() {
  leave_untrusted();
  set_backlogged(false);
  if (on_waiting_list_) shared_.waiting.remove(*this);
  shared_.open.remove(*this);
  shared_.dialling.remove(*this);
  unwatch(watched_fd());
  shared_.out_blocks.put(out_.drop());
  shared_.in_blocks.put(framer_.drop());
}

void TcpEndpoint::attach(core::EndpointSink& sink) noexcept {
  LIVEBTL_ASSERT(sink_ == nullptr, "an endpoint is attached once");
  sink_ = &sink;
  wait_for_turn();
}

void TcpEndpoint::trust() noexcept {
  framer_.set_payload_bytes_max(kPayloadBytesMax);
  if (counted_untrusted_) shared_.allowance.give_back();
  leave_untrusted();
}

void TcpEndpoint::leave_untrusted() noexcept {
  if (std::exchange(counted_untrusted_, false)) --shared_.untrusted;
}

core::EndpointStats TcpEndpoint::stats() const noexcept {
  core::EndpointStats stats = stats_;
  stats.bytes_received = framer_.bytes_delivered();
  return stats;
}

void TcpEndpoint::move_waiting(Turn& turn) noexcept {
  shared_.waiting.remove(*this);
  on_waiting_list_ = false;
  move(turn);
}

void TcpEndpoint::wait_for_turn() noexcept {
  if (std::exchange(on_waiting_list_, true)) return;
  shared_.waiting.add(*this);
  shared_.pace.hurry();
}

void TcpEndpoint::move(Turn& turn) noexcept {
  if (state_ == State::kDown) return;
  if (sink_ == nullptr) return pay_preamble();
  if (state_ == State::kDialling) dial(turn);
  if (state_ == State::kOpen && !out_.empty()) flush(turn);
  // Even after a failed write: what the peer sent before it left is taken.
  const bool drained = !fd_ || receive(turn);
  if (!drained && (state_ == State::kBroken || turn.budget() == 0)) return wait_for_turn();
  pay_preamble();
  if (state_ == State::kBroken) go_down(turn);
}

void TcpEndpoint::dial(Turn& turn) noexcept {
  const Dialler::State result = dialler_->step(turn.now);
  if (result == Dialler::State::kWaiting) {
    watch(dialler_->fd(), dialler_->events());
    return;
  }
  shared_.dialling.remove(*this);
  if (result == Dialler::State::kOpen) {
    const std::uint64_t node = dialler_->answered_node();
    described_ = ends_text(dialler_->local(), to_text(dialler_->target()));
    become_open(dialler_->take_fd(), node, State::kOpen);
    stats_ = std::exchange(early_, {});
  } else {
    fail_with(
        Errc::kUnreachable,
        "tcp: no address of the peer answers (" + dialler_->failures() +
            "); is a firewall between the nodes, or does LIVEBTL_TCP_IF name the wrong network?");
  }
  dialler_.reset();
}

bool TcpEndpoint::crc_towards(std::uint64_t peer_node) const noexcept {
  return shared_.crc == CrcMode::kAlways ||
         (shared_.crc == CrcMode::kNetwork && peer_node != shared_.node);
}

void TcpEndpoint::become_open(Fd fd, std::uint64_t peer_node, State state) noexcept {
  fd_ = std::move(fd);
  state_ = state;
  payload_crc_ = crc_towards(peer_node);
  if (peer_node == shared_.node) leave_pacing(fd_.number());
  shared_.open.add(*this);
  watch(fd_.number(), EPOLLIN);
}

void TcpEndpoint::watch(int fd, std::uint32_t events) noexcept {
  if (token_ == Poller::Token::kNone) {
    const auto token = shared_.poller.add(fd, events, *this);
    if (!token) return fail_with(token.error().code, token.error().text);
    token_ = *token;
  } else if (events != events_) {
    if (const Status changed = shared_.poller.change(token_, fd, events); !changed) {
      return fail_with(changed.error().code, changed.error().text);
    }
  }
  events_ = events;
}

void TcpEndpoint::unwatch(int fd) noexcept {
  shared_.poller.remove(std::exchange(token_, Poller::Token::kNone), fd);
}

int TcpEndpoint::watched_fd() const noexcept { return dialler_ ? dialler_->fd() : fd_.number(); }

/// false: the block or the socket may hold more. Beyond the budget nothing is read, as what is not
/// parsed would hold a block.
bool TcpEndpoint::receive(Turn& turn) noexcept {
  const std::size_t frames_before = turn.frames;
  Framer::Stop stop = framer_.parse(*sink_, turn.budget(), turn.frames);
  bool emptied = read_ended_;
  for (int i = 0; i < kReadsPerMove && stop == Framer::Stop::kNeedBytes && !emptied; ++i) {
    if (turn.budget() == 0) break;
    const Read result = read_once();
    emptied = result != Read::kAll;
    if (result != Read::kNothing) stop = framer_.parse(*sink_, turn.budget(), turn.frames);
  }
  stats_.frames_received += turn.frames - frames_before;
  if (stop == Framer::Stop::kCorrupt) {
    fail_with(Errc::kCorrupt, std::string("tcp: ") + framer_.corruption() + " from " + described_);
  }
  shared_.in_blocks.put(framer_.give_back());
  return stop == Framer::Stop::kCorrupt || (stop == Framer::Stop::kNeedBytes && emptied);
}

/// kAll: the read filled all the room, so there may be more.
TcpEndpoint::Read TcpEndpoint::read_once() noexcept {
  if (!framer_.has_block()) framer_.lend(shared_.in_blocks.take());
  const auto room = framer_.room();
  ssize_t count = 0;
  if (room[1].empty()) {
    count = ::recv(fd_.number(), room[0].data(), room[0].size(), MSG_DONTWAIT);
  } else {
    std::array<iovec, 2> pieces{
        {{room[0].data(), room[0].size()}, {room[1].data(), room[1].size()}}};
    count = ::readv(fd_.number(), pieces.data(), static_cast<int>(pieces.size()));
  }
  if (count > 0) {
    const auto bytes = static_cast<std::size_t>(count);
    framer_.filled(bytes);
    return bytes == room[0].size() + room[1].size() ? Read::kAll : Read::kSome;
  }
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Read::kNothing;
  read_ended_ = true;
  fail_with(Errc::kDown, count == 0 ? "tcp: the peer closed " + described_
                                    : "tcp: " + described_ + ": " + errno_text(errno));
  return Read::kNothing;
}

/// The first failure counts; the next move() reports it to the sink.
void TcpEndpoint::fail_with(Errc code, std::string text) noexcept {
  if (state_ == State::kBroken || state_ == State::kDown) return;
  state_ = State::kBroken;
  error_ = Error{code, std::move(text)};
  wait_for_turn();
}

void TcpEndpoint::go_down(Turn& turn) noexcept {
  if (counted_untrusted_ && error_.code == Errc::kCorrupt) {
    log_unauthenticated(shared_, turn.now, described_, framer_.corruption());
  }
  state_ = State::kDown;
  leave_untrusted();
  set_backlogged(false);
  shared_.dialling.remove(*this);
  shared_.open.remove(*this);
  unwatch(watched_fd());
  fd_.reset();
  shared_.out_blocks.put(out_.drop());
  shared_.in_blocks.put(framer_.drop());
  sink_->on_down(error_);  // may not destroy us, but may post: the answer is kRetry
}

}  // namespace livebtl::tcp
