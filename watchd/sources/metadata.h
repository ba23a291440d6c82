// SPDX-License-Identifier: BSD-3-Clause
// watchd/sources/metadata.h -- the clouds' metadata servers as sources. Threads: as in source.h;
// each owns its Http.
#pragma once

#include <atomic>

#include "watchd/settings.h"
#include "watchd/sources/http.h"
#include "watchd/sources/source.h"

namespace livebtl::watchd {

class MetadataSource : public Source {
 public:
  MetadataSource(const std::string& url, TimeNs interval) : http_(url), interval_(interval) {}
  TimeNs interval() const noexcept override { return interval_; }
  void stop() override { http_.stop(); }

 protected:
  Http http_;

 private:
  const TimeNs interval_;
};

class AzureSource : public MetadataSource {
 public:
  explicit AzureSource(const Settings& settings);
  const char* name() const noexcept override { return "azure"; }
  Result<Report> look() override;
  Outcome acknowledge(const std::string& id, TimeNs until) override;

 private:
  Status learn_machine();

  const bool alone_acknowledges_;
  std::string machine_;  // the poller's thread alone
  bool answered_ = false;
};

class GceSource : public MetadataSource {
 public:
  explicit GceSource(const Settings& settings);
  const char* name() const noexcept override { return "gce"; }
  Result<Report> look() override;
};

class Ec2Source : public MetadataSource {
 public:
  explicit Ec2Source(const Settings& settings);
  const char* name() const noexcept override { return "ec2"; }
  Result<Report> look() override;

 private:
  Status renew_token();
  Result<Answer> ask(const std::string& path);

  std::string token_;  // of IMDSv2; the poller's thread alone
  TimeNs token_ends_ = 0;
};

}  // namespace livebtl::watchd
