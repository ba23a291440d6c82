// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_endpoint.cc -- see sm_endpoint.h. post() and deliver() are the hot path; large
// payloads are in sm_endpoint_zero_copy.cc.
#include "transports/sm/sm_endpoint.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/process_files.h"
#include "transports/sm/sm_transport.h"

namespace livebtl::sm {
namespace {

/// Otherwise the kernel lacks or forbids pidfd_open: the socket still shows nearly every end.
bool used_up(int error) noexcept { return error == EMFILE || error == ENFILE || error == ENOMEM; }

}  // namespace

SmEndpoint::SmEndpoint(SmTransport& transport, std::uint64_t id, ProcessId peer)
    : payload_bytes_max_(transport.caps().payload_bytes_max),
      transport_(transport),
      id_(id),
      peer_(peer) {
  transport_.add(*this);
}

SmEndpoint::~SmEndpoint() {
  unwatch();
  transport_.remove(*this);
}

Status SmEndpoint::open(Parts parts, bool dialler) {
  parts_ = std::move(parts);
  bool ended = false;  // the peer has; a child keeps its sockets
  if (parts_.pid > 0 && parts_.pid != ::getpid()) {
    process_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, parts_.pid, 0)));
    ended = !process_ && errno == ESRCH;
    if (!process_ && used_up(errno)) return cannot_watch(errno);
  }
  if (!transport_.watch(*this, parts_.socket, process_)) return cannot_watch(errno);
  ring_ = dialler ? 0 : 1;
  out_ = parts_.segment.writer(ring_);
  in_ = parts_.segment.reader(1 - ring_);
  in_.tell_barrier(transport_.has_barrier());
  state_ = State::kOpen;
  exporter_.emplace(parts_.segment.exposures(ring_), parts_.segment.spare(ring_),
                    transport_.knem());
  copy_by(std::nullopt);
  reader_ = RemoteReader(parts_.segment.exposures(1 - ring_), parts_.segment.spare(1 - ring_),
                         PeerMemory(parts_.pid), KnemPeer(transport_.knem()));
  if (ended) peer_ended();
  return {};
}

tl::unexpected<Error> SmEndpoint::cannot_watch(int error) const {
  return fail(Errc::kNoMemory, describe() + ": its end could not be seen: " + std::strerror(error) +
                                   "; raise ulimit -n, or fs.epoll.max_user_watches");
}

void SmEndpoint::attach(core::EndpointSink& sink) noexcept {
  LIVEBTL_ASSERT(!sink_, "attach() is called once");
  sink_ = &sink;
  transport_.poll(*this);
}

// The peer has said hello over this connection, so its end of the segment is set up.
void SmEndpoint::trust() noexcept {
  payload_accepted_ = payload_bytes_max_;
  ordered_ = !transport_.has_barrier() || !out_.reader_has_barrier();
  if (transport_.caps().zero_copy_bytes_max != 0) reader_.probe();
}

// A small frame that fits into the ring calls no function; all else is handed on.
core::Post SmEndpoint::post(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.header.size() - 1 < core::kHeaderBytesMax, "a header of 1 to 64 bytes");
  const std::size_t record = record_bytes(frame.header.size(), frame.payload.size());
  if (frame.payload.size() > kSmallBytes || !out_.fits(record) || ordered_) [[unlikely]]
    return post_rarely(frame, record);
  out_.put<true>(frame.header, frame.payload, record);
  stats_.count_sent(frame.header.size() + frame.payload.size());
  std::atomic_signal_fence(std::memory_order_seq_cst);  // write first, then look; see sm_bell.h
  const std::uint32_t sleeping = out_.reader_sleeping();
  if (sleeping % 2 == 1) [[unlikely]]
    return ring_bell(sleeping);
  return core::Post::kDone;
}

core::Post SmEndpoint::post_rarely(const core::Frame& frame, std::size_t record) noexcept {
  if (frame.exposed) return expose(frame);
  if (!out_.fits(record) && !out_.make_room(record)) return core::Post::kRetry;
  if (frame.payload.size() > kSmallBytes)
    out_.put<false>(frame.header, frame.payload, record);
  else
    out_.put<true>(frame.header, frame.payload, record);
  stats_.count_sent(frame.header.size() + frame.payload.size());
  wake_ring_reader();
  return core::Post::kDone;
}

void SmEndpoint::wake_ring_reader() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::uint32_t sleeping = ordered_ ? out_.reader_sleeping_ordered() : out_.reader_sleeping();
  if (sleeping % 2 == 1) static_cast<void>(ring_bell(sleeping));
}

std::size_t SmEndpoint::deliver(std::size_t frames_max) noexcept {
  std::size_t moved = 0;
  RingReader::Record record;
  do {
    const RingReader::Look look = in_.look(payload_accepted_, record);
    if (look != RingReader::Look::kFrame) {
      if (look == RingReader::Look::kCorrupt) [[unlikely]]
        take_down_corrupt();
      if (look != RingReader::Look::kExposure) break;
      // What came before may have told that our own buffers were read: their owners go on first,
      // and may then be ready for this one.
      if ((moved != 0 && in_flight() != 0) || !deliver_exposed(record)) break;
      if (!transport_.has_read_enough()) continue;
      ++moved;
      break;
    }
    alignas(16) std::byte header[core::kHeaderBytesMax];  // the peer can no longer change it
    copy_small(header, record.header, record.header_bytes);
    stats_.count_received(record.header_bytes + record.payload.size());
    sink_->on_frame({header, record.header_bytes}, record.payload);
    in_.release();
  } while (++moved < frames_max);
  return moved;
}

void SmEndpoint::take_down_corrupt() noexcept {
  take_down({Errc::kCorrupt, describe() + ": malformed frame in shared memory"});
}

// Once per sleep: the bell may lie there for long.
core::Post SmEndpoint::ring_bell(std::uint32_t sleeping) noexcept {
  if (sleeping != rung_) sm::ring_bell(parts_.socket);
  rung_ = sleeping;
  return core::Post::kDone;
}

void SmEndpoint::wake_reader() noexcept {
  if (parts_.socket) static_cast<void>(ring_bell(out_.reader_sleeping()));
}

void SmEndpoint::socket_event() noexcept {
  if (state_ == State::kOpen && !take_bells(parts_.socket)) peer_ended();
}

void SmEndpoint::peer_ended() noexcept {
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  out_ = RingWriter();
  reader_.forget_peer();
  unwatch();
  process_.reset();
  parts_.socket.reset();
}

// Before they are closed.
void SmEndpoint::unwatch() noexcept {
  transport_.unwatch(process_);
  transport_.unwatch(parts_.socket);
}

void SmEndpoint::settle() noexcept {
  if (!sink_) return;
  if (state_ == State::kOpen && (out_.corrupt() || exporter_->corrupt()))
    take_down({Errc::kCorrupt, describe() + ": impossible position in shared memory"});
  else if (state_ == State::kClosing && !in_.waiting())
    take_down({Errc::kDown, describe() + ": the peer closed or died"});
}

// In on_down() the sink may still read the fast box, so the memory is kept until it returns.
void SmEndpoint::take_down(const Error& why) noexcept {
  state_ = State::kDown;
  transport_.stop_polling(*this);
  sink_->on_down(why);
  out_ = RingWriter();
  in_ = RingReader();
  exporter_.reset();
  reader_ = RemoteReader();
  unwatch();
  process_.reset();
  parts_ = Parts();
}

std::string SmEndpoint::describe() const {
  return "sm " + process_file(transport_.process(), "") + " -> " + process_file(peer_, "") +
         " (pid " + std::to_string(parts_.pid) + ")";
}

}  // namespace livebtl::sm
