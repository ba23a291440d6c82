// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/socket.h -- a Unix socket by which programs of this machine announce events: one
// line of JSON each, answered by a line for each state that the event reaches. look() waits for a
// line, in the poller's thread, which owns the connections; note() hands states over to it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "base/bell.h"
#include "base/fd.h"
#include "base/log.h"
#include "watchd/sources/source.h"

namespace livebtl::watchd {

class SocketSource : public Source {
 public:
  /// Replaces the socket that a killed livebtl-watchd left. Errors: kSystem, kAuth.
  static Result<std::unique_ptr<SocketSource>> listen(const std::string& path);
  ~SocketSource() override;

  const char* name() const noexcept override { return "socket"; }
  TimeNs interval() const noexcept override { return 0; }
  Result<Report> look() override;
  void note(const Entry& entry) override;
  void stop() override;

 private:
  struct Client {
    Fd connection;
    std::string received = {};
    std::vector<std::string> events = {};  // that it wants to hear of
  };

  SocketSource(std::string path, Fd listener)
      : path_(std::move(path)), listener_(std::move(listener)) {}
  bool accept_one();
  bool serve(Client& client, Report& report);
  bool take_line(Client& client, std::string_view line, Report& report);
  void keep(const Entry& entry);
  void tell_states();
  void wait_until_ready(std::vector<bool>& ready, bool& comes);

  const std::string path_;
  Fd listener_;
  Bell bell_;
  std::vector<Client> clients_;
  TimeNs accepts_from_ = 0;  // until then none is accepted, as there was no descriptor
  LogLimit starved_{1, 60 * kSecond};
  std::map<std::string, Entry> last_;  // state of each event that is not over, for later clients
  std::mutex mutex_;                   // guards what follows
  std::deque<Entry> states_;
  bool stopped_ = false;
};

}  // namespace livebtl::watchd
