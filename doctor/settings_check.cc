// SPDX-License-Identifier: BSD-3-Clause
// doctor/settings_check.cc -- settings, secret, and what tcp is told to use.
#include <algorithm>
#include <array>

#include "base/transport_name.h"
#include "doctor/sight.h"
#include "launch/rdma.h"

namespace livebtl::doctor {
namespace {

constexpr std::uint16_t kPortsOfRoot = 1024;

bool used(const Settings& settings, const std::string& transport) {
  const auto& named = settings.transports;
  const bool all = named.empty() || settings.transports_beside_default;
  const auto is_it = [&](const std::string& name) {
    return canonical_transport(name) == transport;
  };
  const auto of_it = [&](const std::string& name) {
    return is_it(name) || is_meant_by(name, transport);
  };
  return (all || std::ranges::any_of(named, of_it)) &&
         std::ranges::none_of(settings.exclude, is_it);
}

void check_names(const char* setting, const std::vector<std::string>& names, Report& report) {
  for (const std::string& name : names) {
    if (is_transport(name)) continue;
    report.fault("transport-unknown",
                 std::string(setting) + ": no transport is called '" + name + "'",
                 "Every process of a job ends at its start.",
                 "btlctl settings shows where it is set; there are self, sm, tcp, verbs, "
                 "verbs:DEVICE, ofi and ofi:PROVIDER");
    return;
  }
}

bool is_named(const Settings& settings, const std::string& transport) {
  return std::ranges::any_of(settings.transports, [&](const std::string& name) {
    return canonical_transport(name) == transport || is_meant_by(name, transport);
  });
}

/// verbs and ofi are used only if named; livebtl-run names verbs by itself. verbs also needs a
/// device.
bool reaches_other_nodes(const Sight& sight) {
  const Settings& settings = sight.settings;
  const bool by_run = sight.by_run && settings.transports.empty();
  const bool verbs =
      (by_run || is_named(settings, "verbs")) && !launch::rdma_devices(sight.system).empty();
  return used(settings, "tcp") || (verbs && used(settings, "verbs")) ||
         (is_named(settings, "ofi") && used(settings, "ofi"));
}

void check_choice(const Sight& sight, Report& report) {
  const Settings& settings = sight.settings;
  check_names("LIVEBTL_TRANSPORTS", settings.transports, report);
  check_names("LIVEBTL_EXCLUDE", settings.exclude, report);
  if (reaches_other_nodes(sight)) {
    if (!used(settings, "sm"))
      report.note(
          "sm-unused", "sm is not used (LIVEBTL_TRANSPORTS, LIVEBTL_EXCLUDE)",
          "Processes of one node talk over what leads to other nodes: several times slower.",
          "name sm, too; btlctl settings shows where it is set");
    return;
  }
  if (!used(settings, "sm")) {
    report.fault("transports-none",
                 "no transport to another process is used (LIVEBTL_TRANSPORTS, LIVEBTL_EXCLUDE)",
                 "Processes of a job wait for one another without end.", "name sm and tcp, too");
    return;
  }
  report.note(
      "one-node-only", "no transport between nodes is used (LIVEBTL_TRANSPORTS, LIVEBTL_EXCLUDE)",
      "A job of several nodes cannot talk, and a pair on one node has nothing to fall back to.",
      "name tcp, too");
}

void check_port(const Sight& sight, Report& report) {
  const auto port = sight.settings.tcp_port;
  if (port == 0) return;
  if (port < kPortsOfRoot && !sight.probe.root) {
    report.fault("tcp-port",
                 "LIVEBTL_TCP_PORT is " + std::to_string(port) + ", which only root may listen on",
                 "tcp cannot be opened.",
                 "take one from 1024 on, or unset it: any free port is taken then");
  } else if (!sight.probe.port_free) {
    report.fault("tcp-port-taken",
                 "another process listens on LIVEBTL_TCP_PORT " + std::to_string(port) + " already",
                 "tcp cannot be opened; and of several processes on one node only one can have a "
                 "given port.",
                 "ss -ltnp 'sport = :" + std::to_string(port) + "'; or unset it");
  }
}

}  // namespace

bool is_transport(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"self", "sm", "tcp", "verbs", "ofi"};
  const std::string_view family = family_of(name);
  const bool one_of_several = family != name && (family == "ofi" || family == "verbs");
  return (one_of_several && is_transport_name(name)) ||
         std::find(kNames.begin(), kNames.end(), canonical_transport(name)) != kNames.end();
}

void check_settings(const Sight& sight, Report& report) {
  if (!sight.probe.settings_problem.empty()) {
    report.fault("settings", sight.probe.settings_problem,
                 "Every process of a job ends at its start.", "btlctl settings");
  }
  for (const std::string& warning : sight.probe.setting_warnings) {
    report.fault("setting-unknown", warning, "It changes nothing, though somebody meant it to.",
                 "btlctl settings shows what there is");
  }
  if (!sight.probe.secret_problem.empty()) {
    report.fault(
        "secret", sight.probe.secret_problem,
        "Every process of a job ends at its start, as it cannot prove that it belongs to it.",
        "chmod 600 FILE, if others may read it and have not; else (umask 077; head -c 32 "
        "/dev/urandom >FILE), on all nodes the same; export LIVEBTL_SECRET_FILE=FILE");
  }
  if (sight.settings.auth == AuthLevel::kNone) {
    report.note("auth-none", "LIVEBTL_AUTH is none",
                "Who can connect, and knows the job's name, can send messages to it.",
                "unset LIVEBTL_AUTH, but on a closed network of one user's");
  }
  if (sight.probe.settings_problem.empty()) check_choice(sight, report);
}

void check_tcp(const Sight& sight, Report& report) {
  if (!used(sight.settings, "tcp")) return;
  if (const auto chosen = choose_addresses(sight.probe.addresses, sight.settings.tcp_if); !chosen) {
    report.fault("tcp-interface", chosen.error().text, "tcp cannot be opened on this node.",
                 "ip -brief address; btlctl settings shows where it is set");
  } else {
    const bool outside = std::any_of(chosen->begin(), chosen->end(),
                                     [](const auto& each) { return !is_loopback(each.ip); });
    if (!outside) {
      report.note("tcp-loopback", "no interface but loopback is up, or named",
                  "Jobs of this node alone can run.", "ip -brief address");
    } else {
      report.fact("tcp", to_text(chosen->front().ip) + " and " +
                             std::to_string(chosen->size() - 1) + " more addresses");
    }
  }
  check_port(sight, report);
}

}  // namespace livebtl::doctor
