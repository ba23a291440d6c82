// SPDX-License-Identifier: BSD-3-Clause
// kubevirt/main.cc -- livebtl-kubevirt: listens on a plug-in's socket for KubeVirt's node hooks.
// Main thread: waits for a signal; gRPC's threads serve. docs/KUBEVIRT.md.
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <exception>

#include "base/exit_code.h"
#include "base/log.h"
#include "kubevirt/node_hook_service.h"

namespace livebtl::kubevirt {
namespace {

constexpr int kRequestBytesMax = 8 << 20;

ExitCode serve(const std::string& socket, const OrderSettings& settings) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // also in gRPC's threads, which are made later
  NodeHookService service(settings);
  struct stat facts {};
  if (::lstat(socket.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode)) ::unlink(socket.c_str());
  ::umask(0177);  // of the socket: virt-handler is root
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(kRequestBytesMax);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr,
                 "livebtl-kubevirt: %s cannot be listened at; is its directory there, and yours?\n",
                 socket.c_str());
    return ExitCode::kNotPermitted;
  }
  log(LogLevel::kInfo, "kubevirt", "serves node hooks at %s", socket.c_str());
  int signal = 0;
  ::sigwait(&signals, &signal);
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(30));
  return ExitCode::kDone;
}

}  // namespace
}  // namespace livebtl::kubevirt

int main(int argc, char** argv) try {
  CLI::App app(
      "Have guests' jobs release their devices before KubeVirt migrates them, and return after",
      "livebtl-kubevirt");
  livebtl::kubevirt::OrderSettings settings;
  std::string socket = "/var/run/kubevirt/plugins/livebtl.sock";
  app.set_version_flag("--version", std::string("livebtl-kubevirt ") + LIVEBTL_VERSION);
  const auto add = [&app](const char* name, std::string& value, const char* type,
                          const char* help) {
    app.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  add("--socket", socket, "PATH", "Socket that virt-handler calls");
  add("--guests", settings.guests, "DIRECTORY",
      "Directory with a file for each guest that has a job, named NAMESPACE_NAME");
  add("--btlctl", settings.btlctl, "PATH", "btlctl on this node");
  add("--guest-btlctl", settings.guest_btlctl, "PATH", "btlctl in guests");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "livebtl-kubevirt: %s\nTry: livebtl-kubevirt --help\n", error.what());
    return static_cast<int>(livebtl::ExitCode::kUsage);
  }
  livebtl::set_log_prefix("livebtl-kubevirt");
  livebtl::set_log_level(livebtl::LogLevel::kInfo);
  return static_cast<int>(livebtl::kubevirt::serve(socket, settings));
} catch (const std::exception& error) {
  std::fprintf(stderr, "livebtl-kubevirt: cannot go on: %s\n", error.what());
  return static_cast<int>(livebtl::ExitCode::kNotPermitted);
}
