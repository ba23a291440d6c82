// SPDX-License-Identifier: BSD-3-Clause
// transports/sm/sm_endpoint_lending.cc -- payloads of an SmEndpoint that are too large for its
// ring: ours, which the peer fetches, and the peer's.
#include <cerrno>

#include "base/assert.h"
#include "transports/sm/sm_endpoint.h"
#include "transports/sm/sm_transport.h"

namespace livebtl::sm {

// Only the loan's record goes through the ring.
core::Post SmEndpoint::lend(const core::Frame& frame) noexcept {
  LIVEBTL_ASSERT(frame.stable && frame.payload.size() <= transport_.caps().lent_bytes_max,
                 "a payload within caps().payload_bytes_max, or lent");
  if (!lender_ || !lender_->allowed()) return core::Post::kSmaller;
  const std::size_t record = record_bytes(frame.header.size(), sizeof(LoanRecord));
  if (lender_->full() || (!out_.fits(record) && !out_.make_room(record))) return core::Post::kRetry;
  const LoanRecord loan = lender_->lend(frame.payload, frame.cookie);
  out_.put<true>(frame.header, bytes_of(loan), record, RecordKind::kLoan);
  transport_.watch_loans(*this);
  ++stats_.frames_sent;
  ++stats_.frames_lent;
  stats_.bytes_sent += frame.header.size() + frame.payload.size();
  wake_reader();
  return core::Post::kPosted;
}

std::size_t SmEndpoint::settle_loans() noexcept {
  if (!lender_) return 0;
  std::size_t settled = 0;
  for (; settled < kLoansMax && lender_->fetched(); ++settled) sink_->on_sent(lender_->take_back());
  if (lender_->refused()) {
    lender_->share();
    if (state_ == State::kOpen) wake_reader();
  }
  return settled;
}

void SmEndpoint::let_go() noexcept {
  if (!lender_) return;
  lender_->move_out();
  if (lender_->outstanding() != 0 && state_ == State::kOpen) wake_reader();  // one may be shared
}

// false: the connection is down, or the peer is asked for a copy.
bool SmEndpoint::fetch(const LoanRecord& loan, MutableBytes place) noexcept {
  switch (fetcher_.fetch(loan, place)) {
    case Fetcher::Outcome::kDone:
      return true;
    case Fetcher::Outcome::kAsked:
      transport_.tell_refusal(*this, errno);
      if (state_ == State::kOpen) wake_reader();
      break;
    case Fetcher::Outcome::kCorrupt:
      take_down_corrupt();
      break;
    case Fetcher::Outcome::kGone:
      take_down({Errc::kDown, describe() + ": the peer closed or died"});
      break;
  }
  return false;
}

// false: as fetch().
bool SmEndpoint::deliver_loan(const RingReader::Record& record) noexcept {
  LoanRecord loan;
  if (payload_accepted_ == payload_bytes_max_ && record.payload.size() == sizeof(loan))
    std::memcpy(&loan, record.payload.data(), sizeof(loan));  // 0 bytes of payload otherwise
  if (loan.bytes <= payload_bytes_max_ || loan.bytes > transport_.caps().lent_bytes_max) {
    take_down_corrupt();
    return false;
  }
  alignas(16) std::byte copied[core::kHeaderBytesMax];  // the peer can no longer change it
  copy_small(copied, record.header, record.header_bytes);
  const Bytes header{copied, record.header_bytes};
  MutableBytes place = sink_->on_place(header, loan.bytes, false);
  if (place.size() < loan.bytes) place = transport_.loan_buffer();
  place = place.first(loan.bytes);
  if (!fetch(loan, place)) return false;
  transport_.note_fetch();
  ++stats_.frames_received;
  ++stats_.frames_fetched;
  stats_.bytes_received += header.size() + place.size();
  sink_->on_frame(header, place);
  in_.release();
  if (state_ == State::kOpen) wake_reader();  // it may wait for its payload
  return true;
}

}  // namespace livebtl::sm
