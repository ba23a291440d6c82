// SPDX-License-Identifier: BSD-3-Clause
// ctl-tool/exporter/server.cc -- see server.h.
#include "ctl-tool/exporter/server.h"

#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "ctl-tool/exporter/bounded_stream.h"

namespace livebtl::tool {

/// The library accepts and parses requests; this class bounds what a connection may take.
class BoundedServer final : public httplib::Server {
 public:
  /// Connections that nobody has begun to answer are closed.
  void end() {
    ending_.store(true);
    stop();
  }

 private:
  using Setup = std::function<void(httplib::Request&)>;

  bool process_and_close_socket(socket_t socket) override {
    bool answered = false;
    if (!ending_.load()) {
      BoundedStream stream(socket);
      answered = hand_on(&BoundedServer::process_request, stream);
    }
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return answered;
  }

  // Keeps the library from making much of a few bytes: unpacking a body, or copying the whole
  // answer for each requested range.
  static void make_harmless(httplib::Request& request) {
    request.headers.erase("Content-Encoding");
    request.headers.erase("Range");
    request.ranges.clear();
  }

  // Overloads for process_request() as it is in cpp-httplib 0.11 to 0.14, and in 0.18.
  bool hand_on(bool (httplib::Server::*process)(httplib::Stream&, bool, bool&, const Setup&),
               BoundedStream& stream) {
    bool closed = false;
    return (this->*process)(stream, true, closed, make_harmless);
  }
  bool hand_on(bool (httplib::Server::*process)(httplib::Stream&, const std::string&, int,
                                                const std::string&, int, bool, bool&, const Setup&),
               BoundedStream& stream) {
    bool closed = false;
    return (this->*process)(stream, "", 0, "", 0, true, closed, make_harmless);
  }

  std::atomic<bool> ending_{false};
};

namespace {

constexpr std::size_t kAnswering = 16;  // threads

MetricsForm form_wanted(const httplib::Request& request) {
  const bool open =
      request.get_header_value("Accept").find("application/openmetrics-text") != std::string::npos;
  return open ? MetricsForm::kOpenMetrics : MetricsForm::kPrometheus;
}

void set_up(httplib::Server& server) {
  server.set_payload_max_length(BoundedStream::kRequestBytesMax);
  // Not SO_REUSEPORT, the library's default: a second exporter would take half of the requests,
  // unnoticed.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

}  // namespace

MetricsServer::MetricsServer(Look look)
    : look_(std::move(look)), server_(std::make_unique<BoundedServer>()) {
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
  server_->end();
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
