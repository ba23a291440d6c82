// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/metrics_text.cc -- see metrics_text.h.
#include "ctl-tool/metrics_text.h"

#include <array>
#include <cstdio>
#include <functional>

#include "ctl-tool/exposition.h"
#include "ctl-tool/metrics_labels.h"

namespace livebtl::tool {
namespace {

using control::PageView;
using core::TransportStatus;

std::string seconds(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6f", value);
  return text.data();
}

using Jobs = std::vector<CountedJob>;

Labels labels_of(const CountedProcess& process, const TransportStatus& transport) {
  Labels labels = process.labels;
  labels.emplace_back("transport", transport.name);
  return labels;
}

template <class Visit>
void for_each_process(const Jobs& jobs, Visit visit) {
  for (const CountedJob& job : jobs) {
    for (const CountedProcess& process : job.read) visit(process);
  }
}

struct TransportCounter {
  const char* name;
  const char* help;
  std::uint64_t (*value)(const TransportStatus&);
};
constexpr TransportCounter kTransportCounters[] = {
    {"livebtl_sent_bytes", "Bytes sent, with headers, by transport.",
     [](const TransportStatus& of) { return of.carried.bytes_sent; }},
    {"livebtl_received_bytes", "Bytes received, with headers, by transport.",
     [](const TransportStatus& of) { return of.carried.bytes_received; }},
    {"livebtl_sent_frames", "Frames sent, by transport.",
     [](const TransportStatus& of) { return of.carried.frames_sent; }},
    {"livebtl_received_frames", "Frames received, by transport.",
     [](const TransportStatus& of) { return of.carried.frames_received; }},
    {"livebtl_paths_lost", "Paths that broke without an order, by transport.",
     [](const TransportStatus& of) { return of.paths_lost; }},
    {"livebtl_corrupt_frames", "Frames that were refused as damaged, by transport.",
     [](const TransportStatus& of) { return of.corrupt_frames; }}};

struct PageCounter {
  const char* name;
  const char* help;
  std::uint64_t PageView::*value;
};
constexpr PageCounter kPageCounters[] = {
    {"livebtl_sent_messages", "Messages and one-sided operations sent.", &PageView::messages_sent},
    {"livebtl_received_messages", "Messages received.", &PageView::messages_received},
    {"livebtl_retransmitted_frames", "Frames sent again after a path was lost.",
     &PageView::retransmitted_frames},
    {"livebtl_duplicate_frames", "Frames received twice, and dropped.",
     &PageView::duplicate_frames},
    {"livebtl_reordered_frames", "Frames put in order again after a move.",
     &PageView::reordered_frames},
    {"livebtl_losses", "Paths and peers lost.", &PageView::losses_total}};

void add_counters(Exposition& out, const Jobs& jobs) {
  for (const TransportCounter& each : kTransportCounters) {
    out.counter(each.name, each.help);
    for_each_process(jobs, [&](const CountedProcess& process) {
      for (const TransportStatus& transport : process.page->transports)
        out.add(labels_of(process, transport), std::to_string(each.value(transport)));
    });
  }
  for (const PageCounter& each : kPageCounters) {
    out.counter(each.name, each.help);
    for_each_process(jobs, [&](const CountedProcess& process) {
      out.add(process.labels, std::to_string(process.page->*each.value));
    });
  }
}

void add_pairs(Exposition& out, const Jobs& jobs) {
  out.gauge("livebtl_pairs", "Pairs of this process that send on a transport, by lane.");
  for_each_process(jobs, [&](const CountedProcess& process) {
    for (const TransportStatus& transport : process.page->transports) {
      for (const bool bulk : {false, true}) {
        Labels labels = labels_of(process, transport);
        labels.emplace_back("lane", bulk ? "bulk" : "ordered");
        out.add(labels, std::to_string(bulk ? transport.bulk_peers : transport.peers));
      }
    }
  });
}

void add_transport_states(Exposition& out, const Jobs& jobs) {
  struct State {
    const char* name;
    bool (*holds)(const TransportStatus&);
  };
  constexpr State kStates[] = {
      {"open", [](const TransportStatus& of) { return of.open; }},
      {"absent", [](const TransportStatus& of) { return !of.absent.empty(); }},
      {"removed", [](const TransportStatus& of) { return of.excluded; }},
      {"quiesced", [](const TransportStatus& of) { return of.quiesced; }}};
  out.gauge("livebtl_transport_state", "1: the transport is in that state in this process.");
  for_each_process(jobs, [&](const CountedProcess& process) {
    for (const TransportStatus& transport : process.page->transports) {
      for (const State& state : kStates) {
        Labels labels = labels_of(process, transport);
        labels.emplace_back("state", state.name);
        out.add(labels, state.holds(transport) ? "1" : "0");
      }
    }
  });
}

bool rests(const PageView& page) {
  const bool end = page.rung == control::Rung::kOld || page.rung == control::Rung::kNew;
  return page.reached && end;
}

struct PageGauge {
  const char* name;
  const char* help;
  std::function<std::string(const PageView&)> value;
};

std::uint64_t sum_of(const PageView& page, std::uint64_t control::PairView::*value) {
  std::uint64_t sum = 0;
  for (const control::PairView& pair : page.pairs) sum += pair.*value;
  return sum;
}

double last_switch_seconds(const PageView& page) {
  const auto* last = page.switches.empty() ? nullptr : &page.switches.back();
  if (last == nullptr || last->rungs.empty()) return 0.0;
  return static_cast<double>(last->rungs.back().reached_ns) / static_cast<double>(kSecond);
}

std::string yes(bool holds) { return holds ? "1" : "0"; }

std::uint64_t queued_in(const PageView& page) {
  std::uint64_t sum = 0;
  for (const control::PairView& pair : page.pairs) sum += pair.queued;
  return sum;
}

/// Gauges of a process's pairs.
std::vector<PageGauge> pair_gauges() {
  return {
      {"livebtl_connected_pairs", "Processes that this one has met.",
       [](const PageView& page) { return std::to_string(page.pairs_total); }},
      {"livebtl_kept_bytes", "Bytes sent and not acknowledged yet, of the pairs that talk most.",
       [](const PageView& page) {
         return std::to_string(sum_of(page, &control::PairView::kept_bytes));
       }},
      {"livebtl_queued_frames", "Frames that cannot be sent yet, of the pairs that talk most.",
       [](const PageView& page) { return std::to_string(queued_in(page)); }},
      {"livebtl_counted_timestamp_seconds", "When this process last copied its counters.",
       [](const PageView& page) { return seconds(static_cast<double>(page.unix_ms) / 1e3); }}};
}

/// Gauges of where a process stands.
std::vector<PageGauge> standing_gauges() {
  using State = core::HoldState;
  return {{"livebtl_epoch", "Number of the last switch that this process took part in.",
           [](const PageView& page) { return std::to_string(page.epoch); }},
          {"livebtl_switch_unfinished", "1: this process stands in the middle of a switch.",
           [](const PageView& page) { return yes(!rests(page)); }},
          {"livebtl_switch_refused", "1: this process refused the last order.",
           [](const PageView& page) { return yes(!page.refusal.empty()); }},
          {"livebtl_last_switch_seconds",
           "What the last switch took in this process; 0: there was none.",
           [](const PageView& page) { return seconds(last_switch_seconds(page)); }},
          {"livebtl_held", "1: this process is parked, or parks, for a snapshot.",
           [](const PageView& page) {
             return yes(page.hold.state == State::kParking || page.hold.state == State::kParked);
           }},
          {"livebtl_hold_broken", "1: its last hold was interrupted.",
           [](const PageView& page) { return yes(page.hold.state == State::kBroken); }}};
}

void add_jobs(Exposition& out, const Jobs& jobs) {
  struct JobGauge {
    const char* name;
    const char* help;
    std::size_t CountedJob::*value;
  };
  constexpr JobGauge kGauges[] = {
      {"livebtl_processes", "Processes of the job on this node.", &CountedJob::processes},
      {"livebtl_unreadable_pages", "Processes whose page cannot be read.", &CountedJob::unread}};
  out.gauge("livebtl_jobs", "Jobs on this node.");
  out.add({}, std::to_string(jobs.size()));
  for (const JobGauge& each : kGauges) {
    out.gauge(each.name, each.help);
    for (const CountedJob& job : jobs) out.add(job.labels, std::to_string(job.*each.value));
  }
}

void add_gauges(Exposition& out, const Jobs& jobs, const std::vector<PageGauge>& gauges) {
  for (const PageGauge& each : gauges) {
    out.gauge(each.name, each.help);
    for_each_process(jobs, [&](const CountedProcess& process) {
      out.add(process.labels, each.value(*process.page));
    });
  }
}

}  // namespace

std::string metrics_text(const std::vector<Pages>& pages, MetricsForm form) {
  Exposition out(form);
  const Jobs jobs = counted_jobs(pages);
  add_jobs(out, jobs);
  out.gauge("livebtl_process_info", "1, for each process: where it runs.");
  for_each_process(jobs, [&](const CountedProcess& process) {
    Labels labels = process.labels;
    labels.emplace_back("host", process.page->host);
    if (!process.process.empty()) labels.emplace_back("process", process.process);
    out.add(labels, "1");
  });
  add_counters(out, jobs);
  add_pairs(out, jobs);
  add_transport_states(out, jobs);
  add_gauges(out, jobs, pair_gauges());
  add_gauges(out, jobs, standing_gauges());
  return out.end();
}

}  // namespace livebtl::tool
