// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exporter/server.cc -- see server.h.
#include "ctl-tool/exporter/server.h"

#include <httplib.h>

#include <cerrno>
#include <cstring>

namespace livebtl::tool {
namespace {

constexpr std::size_t kAnswering = 16;  // threads
constexpr time_t kPatienceSeconds = 2;  // with one that sends or reads slowly
constexpr std::size_t kBodyBytesMax = 4096;

MetricsForm form_wanted(const httplib::Request& request) {
  const bool open =
      request.get_header_value("Accept").find("application/openmetrics-text") != std::string::npos;
  return open ? MetricsForm::kOpenMetrics : MetricsForm::kPrometheus;
}

void set_up(httplib::Server& server) {
  server.set_read_timeout(kPatienceSeconds, 0);
  server.set_write_timeout(kPatienceSeconds, 0);
  server.set_keep_alive_max_count(1);  // the library looks at an idle connection 100 times a second
  server.set_payload_max_length(kBodyBytesMax);
  // Not SO_REUSEPORT, as the library would: a second exporter would take half of the requests, unnoticed.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

}  // namespace

MetricsServer::MetricsServer(Look look)
    : look_(std::move(look)), server_(std::make_unique<httplib::Server>()) {
  set_up(*server_);
  // The library asks for threads once it runs. Before that its stop() would do nothing.
  server_->new_task_queue = [this] {
    running_.count_down();
    return new httplib::ThreadPool(kAnswering);
  };
  server_->Get("/metrics", [this](const httplib::Request& request, httplib::Response& response) {
    const MetricsForm form = form_wanted(request);
    const std::lock_guard one_at_a_time(looking_);
    const auto text = look_(form);
    if (text)
      return response.set_content(
          *text, form == MetricsForm::kOpenMetrics ? kOpenMetricsType : kPrometheusType);
    response.status = 503;
    response.set_content(text.error().text + "\n", "text/plain; charset=utf-8");
  });
  server_->Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("livebtl: metrics are at /metrics\n", "text/plain; charset=utf-8");
  });
}

MetricsServer::~MetricsServer() {
  if (!acceptor_.joinable()) return;
  server_->stop();
  acceptor_.join();
}

Status MetricsServer::listen(const control::HostPort& where) {
  errno = 0;
  if (!server_->bind_to_port(where.host, where.port)) {
    const char* const why = errno == 0 ? "no such address" : std::strerror(errno);
    return fail(Errc::kSystem, "cannot listen on " + where.host + " port " +
                                   std::to_string(where.port) + ": " + why);
  }
  acceptor_ = std::thread([this] { server_->listen_after_bind(); });
  running_.wait();
  return {};
}

}  // namespace livebtl::tool
