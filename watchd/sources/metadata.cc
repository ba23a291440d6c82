// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/metadata.cc -- see metadata.h. Paths and headers are the clouds' own.
#include "watchd/sources/metadata.h"

#include <algorithm>

#include "base/text.h"
#include "watchd/texts/notice_texts.h"

namespace livebtl::watchd {
namespace {

constexpr TimeNs kTimeout = 5 * kSecond;
constexpr TimeNs kAzureFirst = 150 * kSecond;  // a machine's first answer takes up to two minutes
constexpr const char* kAzureEvents = "/metadata/scheduledevents?api-version=2020-07-01";
constexpr const char* kAzureName =
    "/metadata/instance/compute/name?api-version=2021-02-01&format=text";
constexpr const char* kGceInstance = "/computeMetadata/v1/instance/";
constexpr const char* kEc2Meta = "/latest/meta-data/";
constexpr TimeNs kTokenLife = 21'600 * kSecond;
constexpr int kOk = 200, kUnauthorized = 401, kNotFoundHere = 404;
constexpr int kServerErrors = 500, kUnavailable = 503;

TimeNs interval_or(const Settings& settings, TimeNs otherwise) {
  return settings.poll == 0 ? otherwise : settings.poll;
}

tl::unexpected<Error> status_error(const std::string& path, const Answer& answer) {
  return fail(Errc::kRefused,
              path + " is answered with HTTP status " + std::to_string(answer.status));
}

Result<Report> report_of(const char* source, Result<Notices> notices) {
  if (!notices) return tl::unexpected(notices.error());
  return Report{.source = source, .notices = std::move(*notices)};
}

/// Of both lists; else the first error.
Result<Notices> joined(Result<Notices> one, Result<Notices> other) {
  if (!one) return one;
  if (!other) return other;
  std::move(other->begin(), other->end(), std::back_inserter(*one));
  return one;
}

}  // namespace

AzureSource::AzureSource(const Settings& settings)
    : MetadataSource(settings.azure_url, interval_or(settings, kSecond)),
      alone_acknowledges_(settings.alone_acknowledges),
      machine_(settings.azure_machine) {}

Status AzureSource::learn_machine() {
  if (!machine_.empty()) return {};
  const auto answer = http_.get(kAzureName, {{"Metadata", "true"}}, kTimeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status != kOk) return status_error(kAzureName, *answer);
  if (!is_plain_name(answer->body))
    return fail(Errc::kInvalid, "the metadata name no machine; set AZURE_MACHINE");
  machine_ = answer->body;
  return {};
}

Result<Report> AzureSource::look() {
  if (auto known = learn_machine(); !known) return tl::unexpected(known.error());
  const auto answer =
      http_.get(kAzureEvents, {{"Metadata", "true"}}, answered_ ? kTimeout : kAzureFirst);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status != kOk) return status_error(kAzureEvents, *answer);
  auto report = report_of(name(), read_azure(answer->body, machine_, alone_acknowledges_));
  answered_ = answered_ || report.has_value();
  return report;
}

/// Only what certainly was not taken may be said again.
Outcome AzureSource::acknowledge(const std::string& id, TimeNs until) {
  const TimeNs timeout = std::clamp(until - monotonic_now(), kSecond, kTimeout);
  const auto answer =
      http_.post(kAzureEvents, {{"Metadata", "true"}, {"Content-Type", "application/json"}},
                 azure_start_request(id), timeout);
  if (!answer) {
    const bool unasked = answer.error().code == Errc::kDown;
    return {unasked ? Outcome::Kind::kNotDone : Outcome::Kind::kUnknown, answer.error().text};
  }
  if (answer->status == kOk)
    return {Outcome::Kind::kDone, "azure was told that the event may begin"};
  const bool refused = answer->status < kServerErrors || answer->status == kUnavailable;
  return {refused ? Outcome::Kind::kNotDone : Outcome::Kind::kUnknown,
          status_error(kAzureEvents, *answer).value().text};
}

GceSource::GceSource(const Settings& settings)
    : MetadataSource(settings.gce_url, interval_or(settings, kSecond)) {}

/// Machines without planned maintenance have no upcoming-maintenance.
Result<Report> GceSource::look() {
  const Headers headers = {{"Metadata-Flavor", "Google"}};
  const std::string event_path = std::string(kGceInstance) + "maintenance-event";
  const auto event = http_.get(event_path, headers, kTimeout);
  if (!event) return tl::unexpected(event.error());
  if (event->status != kOk) return status_error(event_path, *event);
  const std::string upcoming_path =
      std::string(kGceInstance) + "upcoming-maintenance?alt=json&recursive=true";
  const auto upcoming = http_.get(upcoming_path, headers, kTimeout);
  if (!upcoming) return tl::unexpected(upcoming.error());
  if (upcoming->status != kOk && upcoming->status != kNotFoundHere)
    return status_error(upcoming_path, *upcoming);
  return report_of(name(),
                   joined(read_gce_event(event->body),
                          upcoming->status == kOk ? read_gce_upcoming(upcoming->body) : Notices()));
}

Ec2Source::Ec2Source(const Settings& settings)
    : MetadataSource(settings.ec2_url, interval_or(settings, 5 * kSecond)) {}

Status Ec2Source::renew_token() {
  if (!token_.empty() && monotonic_now() < token_ends_) return {};
  const std::string life = std::to_string(kTokenLife / kSecond);
  const auto answer =
      http_.put("/latest/api/token", {{"X-aws-ec2-metadata-token-ttl-seconds", life}}, kTimeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status != kOk) return status_error("/latest/api/token", *answer);
  if (!well_formed_event_id(answer->body))  // a header's value must not begin a new line
    return fail(Errc::kInvalid, "/latest/api/token is answered with no token");
  token_ = answer->body;
  token_ends_ = monotonic_now() + kTokenLife / 2;
  return {};
}

/// 404: there is nothing of that name.
Result<Answer> Ec2Source::ask(const std::string& path) {
  if (auto renewed = renew_token(); !renewed) return tl::unexpected(renewed.error());
  const std::string whole = kEc2Meta + path;
  auto answer = http_.get(whole, {{"X-aws-ec2-metadata-token", token_}}, kTimeout);
  if (!answer) return answer;
  if (answer->status == kUnauthorized) token_.clear();  // the next look asks for another one
  if (answer->status != kOk && answer->status != kNotFoundHere) return status_error(whole, *answer);
  return answer;
}

Result<Report> Ec2Source::look() {
  const auto events = ask("events/maintenance/scheduled");
  if (!events) return tl::unexpected(events.error());
  const auto spot = ask("spot/instance-action");
  if (!spot) return tl::unexpected(spot.error());
  const auto read = [](const Answer& answer, Result<Notices> (*reader)(std::string_view)) {
    return answer.status == kOk ? reader(answer.body) : Notices();
  };
  return report_of(name(), joined(read(*events, read_ec2_events), read(*spot, read_ec2_spot)));
}

}  // namespace livebtl::watchd
