// SPDX-License-Identifier: BSD-3-Clause
// Answers of sources of notices, and lines of livebtl-watchd's journal. The first byte says whose
// words the rest is. What is accepted must be bounded, and an entry must survive the round trip.
#include <algorithm>

#include "tests/fuzz/reached.h"
#include "watchd/events/entry.h"
#include "watchd/texts/moment.h"
#include "watchd/texts/notice_texts.h"

namespace {

using namespace livebtl;
using namespace livebtl::watchd;

void check_notice(const Notice& notice) {
  fuzz::must_hold(well_formed_event_id(notice.id), "an event has an id");
  fuzz::must_hold(notice.text.size() <= kTextBytesMax, "a text is short");
  fuzz::must_hold(std::all_of(notice.text.begin(), notice.text.end(),
                              [](char c) { return c >= 0x20 && c < 0x7f; }),
                  "a text is harmless");
}

bool notices(const Result<Notices>& read) {
  if (!read) return false;
  fuzz::must_hold(read->size() <= kNoticesMax, "there are not too many");
  for (const Notice& notice : *read) check_notice(notice);
  return true;
}

bool entry(std::string_view text) {
  const auto read = read_entry(text);
  if (!read) return false;
  check_notice(read->notice);
  const std::string again = entry_line(*read);
  const auto second = read_entry(again);
  fuzz::must_hold(second && entry_line(*second) == again, "an entry survives the round trip");
  return true;
}

bool socket_line(std::string_view text) {
  const auto read = read_socket_line(text, 0);
  if (read) check_notice(read->notice);
  return read.has_value();
}

bool moment(std::string_view text) {
  const auto read = read_moment(text);
  if (read)
    fuzz::must_hold(read_moment(moment_text(*read)) == read, "a moment survives the round trip");
  return read.has_value();
}

bool accepted(char whose, std::string_view text) {
  switch (whose) {
    case 'a':
      return notices(read_azure(text, "vm_0", true));
    case 'g':
      return notices(read_gce_event(text));
    case 'u':
      return notices(read_gce_upcoming(text));
    case 'e':
      return notices(read_ec2_events(text));
    case 's':
      return notices(read_ec2_spot(text));
    case 'n':
      return notices(read_slurm(text, "n1"));
    case 'f':
      return notices(read_notice_file(text));
    case 'l':
      return socket_line(text);
    case 'm':
      return moment(text);
    default:
      return entry(text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  fuzz::Reached::note(accepted(text.front(), text.substr(1)));
  return 0;
}
