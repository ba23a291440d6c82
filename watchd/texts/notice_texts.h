// SPDX-License-Identifier: BSD-3-Clause
// watchd/texts/notice_texts.h -- reads what sources of notices answer. Pure. All of it is hostile,
// and what is not understood is an error: an unreadable answer never means that there are no
// events.
#pragma once

#include "livebtl/result.h"
#include "watchd/events/notice.h"

namespace livebtl::watchd {

using Notices = std::vector<Notice>;

inline constexpr std::size_t kAnswerBytesMax = std::size_t{256} * 1024;

/// Those of Azure's scheduled events that name this machine. alone_acknowledges: an event that also
/// names others may be acknowledged only if this is false, since that begins it for all.
Result<Notices> read_azure(std::string_view body, const std::string& machine,
                           bool alone_acknowledges);
/// The body to post so that Azure begins an event.
std::string azure_start_request(const std::string& id);

/// GCE's maintenance-event: one word.
Result<Notices> read_gce_event(std::string_view body);
/// GCE's upcoming-maintenance.
Result<Notices> read_gce_upcoming(std::string_view body);

/// EC2's scheduled events.
Result<Notices> read_ec2_events(std::string_view body);
/// EC2's spot/instance-action.
Result<Notices> read_ec2_spot(std::string_view body);

/// scontrol's or sinfo's words on a node, as text or as JSON.
Result<Notices> read_slurm(std::string_view output, const std::string& node);

/// A file of the site's: {"events": [{"event": ID, "kind": KIND, "start": TIME, "text": TEXT}, ...]}.
Result<Notices> read_notice_file(std::string_view text);

/// A line on the socket: one such event, or one with "over": true.
struct SocketLine {
  Notice notice;
  bool over = false;
};
Result<SocketLine> read_socket_line(std::string_view line, UnixNs now);

}  // namespace livebtl::watchd
