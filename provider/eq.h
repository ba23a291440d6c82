// SPDX-License-Identifier: BSD-3-Clause
// provider/eq.h -- fi_eq: control events: finished address insertions, and what the application
// writes into it. Never on the message path, so an ordinary lock guards it.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "provider/fabric.h"
#include "provider/wait.h"

namespace livebtl::fi {

class EventQueue final : public Object<EventQueue, fid_eq>, public Waitable {
 public:
  EventQueue(Fabric& fabric, bool writable, void* context) noexcept;
  ~EventQueue() { fabric_.drop(); }

  ssize_t write(std::uint32_t event, const void* bytes, std::size_t count);
  void write_error(const fi_eq_err_entry& entry);
  ssize_t read(std::uint32_t* event, void* bytes, std::size_t count, std::uint64_t flags) noexcept;
  ssize_t read_error(fi_eq_err_entry* entry, std::uint64_t flags) noexcept;
  ssize_t read_waiting(std::uint32_t* event, void* bytes, std::size_t count, int timeout_ms,
                       std::uint64_t flags) noexcept;

  bool writable() const noexcept { return writable_; }

  bool ready() noexcept override;
  Engine* engine() noexcept override { return nullptr; }
  void join_poll_set() noexcept override { keep(); }
  void leave_poll_set() noexcept override { drop(); }

 private:
  struct Event {
    std::uint32_t number = 0;
    bool is_error = false;
    std::vector<std::byte> bytes;
    fi_eq_err_entry error{};
  };

  void append(Event event);

  Fabric& fabric_;
  const bool writable_;  // by the application
  std::mutex lock_;
  std::condition_variable arrived_;
  std::deque<Event> events_;
};

int open_event_queue(fid_fabric* fabric, fi_eq_attr* attr, fid_eq** queue, void* context);

}  // namespace livebtl::fi
