// SPDX-License-Identifier: BSD-3-Clause
// watchd/settings.cc -- see settings.h.
#include "watchd/settings.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "base/text.h"

namespace livebtl::watchd {
namespace {

using Words = std::vector<std::string>;
/// "": accepted; else what the setting takes.
using Take = std::function<std::string(Settings&, const std::string&)>;

constexpr std::size_t kWordsMax = 16;
constexpr const char* kGuard = "watchd-btlctl";

Words words_in(const std::string& text) {
  Words words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string::npos) break;
    at = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

std::string take_sources(Settings& settings, const std::string& value) {
  settings.sources = words_in(value);
  for (const std::string& name : settings.sources) {
    if (std::find(std::begin(kSourceNames), std::end(kSourceNames), name) ==
            std::end(kSourceNames) ||
        std::count(settings.sources.begin(), settings.sources.end(), name) > 1)
      return "some of azure gce ec2 slurm file socket, each once";
  }
  return "";
}

std::string take_kinds(Settings& settings, const std::string& value) {
  settings.policy.kinds = {};
  for (const std::string& word : words_in(value)) {
    const auto kind = read_kind(word);
    if (!kind) return "some of freeze migrate reboot redeploy terminate preempt drain maintenance";
    settings.policy.kinds[static_cast<std::size_t>(*kind)] = true;
  }
  return "";
}

std::string take_acknowledge(Settings& settings, const std::string& value) {
  settings.policy.acknowledges = value != "no";
  settings.alone_acknowledges = value != "all";
  return value == "no" || value == "own" || value == "all" ? "" : "no, own or all";
}

Take text(std::string Settings::*member) {
  return [member](Settings& settings, const std::string& value) {
    settings.*member = value;
    return value.empty() || value.size() > 1024 ? "a text" : "";
  };
}

/// Must not look like an option, as the words reach another program; watchd-btlctl lets the same
/// ones through. libfabric's providers have names such as tcp;ofi_rxm.
bool is_transport(const std::string& word) {
  const std::size_t end = std::min(word.find(':'), word.size());
  return is_plain_name(word.substr(0, end)) && word.front() != '-' &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(end), word.end(),
                     [](char each) { return is_plain(each) || each == ':' || each == ';'; });
}

Take plain_words(Words Settings::*member) {
  return [member](Settings& settings, const std::string& value) -> std::string {
    settings.*member = words_in(value);
    const bool good =
        std::all_of((settings.*member).begin(), (settings.*member).end(), is_transport);
    return good && (settings.*member).size() <= 4 ? "" : "names of up to four transports";
  };
}

Take command(Words Settings::*member) {
  return [member](Settings& settings, const std::string& value) {
    settings.*member = words_in(value);
    const std::size_t words = (settings.*member).size();
    return words == 0 || words > kWordsMax ? "a program and up to 15 words" : "";
  };
}

Take url(std::string Settings::*member) {
  return [member](Settings& settings, const std::string& value) {
    settings.*member = value;
    const std::string host = value.starts_with("http://") ? value.substr(7) : "";
    const bool good = !host.empty() && host.find_first_of("/ @?#") == std::string::npos;
    return good ? "" : "http://HOST or http://HOST:PORT";
  };
}

std::optional<TimeNs> seconds(const std::string& value, unsigned least, unsigned most) {
  const auto number = parse_number<unsigned>(value);
  if (!number || *number < least || *number > most) return std::nullopt;
  return static_cast<TimeNs>(*number) * kSecond;
}

Take seconds_of(TimeNs Policy::*member, unsigned least, unsigned most) {
  return [=](Settings& settings, const std::string& value) -> std::string {
    const auto taken = seconds(value, least, most);
    if (taken) settings.policy.*member = *taken;
    return taken ? "" : "whole seconds, " + std::to_string(least) + " to " + std::to_string(most);
  };
}

std::string take_poll(Settings& settings, const std::string& value) {
  const auto taken = seconds(value, 1, 3600);
  settings.poll = taken.value_or(0);
  return taken ? "" : "whole seconds, 1 to 3600";
}

std::string take_node(Settings& settings, const std::string& value) {
  settings.node = value;
  return is_plain_name(value) && value.front() != '-' ? "" : "a node's name";
}

struct Known {
  const char* name;
  Take take;
};

const std::vector<Known>& known_settings() {
  static const std::vector<Known> known = {
      {"SOURCES", take_sources},
      {"NODE", take_node},
      {"BTLCTL", command(&Settings::btlctl)},
      {"TRANSPORTS", plain_words(&Settings::transports)},
      {"CONNECT", text(&Settings::connect)},
      {"SECRET_FILE", text(&Settings::secret_file)},
      {"JOURNAL", text(&Settings::journal)},
      {"KINDS", take_kinds},
      {"ACKNOWLEDGE", take_acknowledge},
      {"LEAD_S", seconds_of(&Policy::lead, 5, 86400)},
      {"PREPARE_TIMEOUT_S", seconds_of(&Policy::prepare_timeout, 1, 600)},
      {"RETURN_TIMEOUT_S", seconds_of(&Policy::return_timeout, 1, 600)},
      {"LOST_AFTER_S", seconds_of(&Policy::lost_after, 60, 604800)},
      {"POLL_S", take_poll},
      {"AZURE_URL", url(&Settings::azure_url)},
      {"AZURE_MACHINE", text(&Settings::azure_machine)},
      {"GCE_URL", url(&Settings::gce_url)},
      {"EC2_URL", url(&Settings::ec2_url)},
      {"SLURM_COMMAND", command(&Settings::slurm_command)},
      {"FILE", text(&Settings::file)},
      {"SOCKET", text(&Settings::socket)},
  };
  return known;
}

}  // namespace

Result<Settings> read_watchd_settings(const std::vector<Assignment>& assignments) {
  Settings settings;
  for (const Assignment& each : assignments) {
    const auto& known = known_settings();
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&each](const Known& one) { return each.name == one.name; });
    if (found == known.end())
      return fail(Errc::kInvalid, each.path + ": there is no setting " + plain_text(each.name) +
                                      "; livebtl-watchd(8) lists all");
    if (const std::string takes = found->take(settings, each.value); !takes.empty())
      return fail(Errc::kInvalid, each.path + ": " + each.name + " takes " + takes);
  }
  if (settings.connect.empty() != settings.secret_file.empty())
    return fail(Errc::kInvalid, "CONNECT and SECRET_FILE need each other");
  const bool guarded = std::any_of(settings.btlctl.begin(), settings.btlctl.end(),
                                   [](const auto& word) { return word.ends_with(kGuard); });
  if (guarded && !settings.connect.empty())
    return fail(Errc::kInvalid,
                "CONNECT does not go with BTLCTL = ... " + std::string(kGuard) +
                    ", which lets orders to the jobs of this machine through alone; leave BTLCTL "
                    "out, and let the user of livebtl-watchd read SECRET_FILE");
  return settings;
}

}  // namespace livebtl::watchd
