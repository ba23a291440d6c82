// SPDX-License-Identifier: BSD-3-Clause
// runtime/runtime.cc -- see runtime.h.
#include "runtime/runtime.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <new>

#include "base/log.h"
#include "base/process_settings.h"
#include "base/transport_name.h"
#include "transports/builtin.h"

namespace livebtl::runtime {
namespace {

using Kinds = std::vector<core::TransportKind>;
using Names = std::vector<std::string>;

/// Whether a Runtime exists, including one that is ending and has no references any more.
class Existence {
 public:
  void begin() noexcept { set(true); }
  void end() noexcept { set(false); }
  void wait_for_end() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !exists_; });
  }

 private:
  void set(bool exists) noexcept {
    {
      const std::lock_guard lock(mutex_);
      exists_ = exists;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool exists_ = false;
};

/// Never destroyed: a library may still hold the engine when static objects are destroyed.
struct OneEngine {
  std::mutex starting;  // acquire() holds it
  std::weak_ptr<Runtime> current;
  Existence existence;

  /// In a forked child, threads that held these locks or would have ended an engine do not exist.
  // The engine is the parent's, whoever in the child still holds it.
  void enter_child() noexcept {
    new (&starting) std::mutex;
    new (&current) std::weak_ptr<Runtime>;
    new (&existence) Existence;
  }
};

OneEngine& one_engine() {
  static auto& kept = *[] {
    if (::pthread_atfork(nullptr, nullptr, [] { one_engine().enter_child(); }) != 0)
      log(LogLevel::kWarn, "runtime",
          "no memory for a fork handler: a child that is forked just as the engine ends may hang");
    return new OneEngine;
  }();
  return kept;
}

/// The transport that `variable` calls `name`. Errors: kInvalid, naming the variable.
Result<core::TransportKind> kind_named(const std::string& name, const char* variable,
                                       const std::string& devices = "") {
  auto kind = transports::named(name, devices);
  if (!kind) return fail(Errc::kInvalid, std::string(variable) + ": " + kind.error().text);
  return kind;
}

bool holds(const Kinds& kinds, const std::string& name) {
  return std::ranges::any_of(kinds, [&name](const auto& each) { return each.name == name; });
}

/// The transports in LIVEBTL_TRANSPORTS, by their own names; each may occur once.
Result<Names> checked_names(const Settings& settings) {
  Names names;
  for (const std::string& name : settings.transports) {
    const auto kind = kind_named(name, "LIVEBTL_TRANSPORTS", settings.verbs_device);
    if (!kind) return tl::unexpected(kind.error());
    if (std::ranges::find(names, kind->name) != names.end())
      return fail(Errc::kInvalid, "LIVEBTL_TRANSPORTS names " + kind->name + " twice");
    names.push_back(kind->name);
  }
  return names;
}

/// Those named, plus every built-in transport of whose family none is named.
Names with_default(const Names& named) {
  Names names;
  for (const core::TransportKind& kind : transports::builtin()) {
    const auto of_it = [&](const std::string& name) { return is_meant_by(name, kind.name); };
    if (std::ranges::none_of(named, of_it)) names.push_back(kind.name);
    std::ranges::copy_if(named, std::back_inserter(names), of_it);
  }
  return names;
}

/// The transports that LIVEBTL_TRANSPORTS names; if it names none, all built-in ones; if it adds
/// some (+), those as well.
Result<Kinds> wanted_kinds(const Settings& settings) {
  auto names = checked_names(settings);
  if (!names) return tl::unexpected(names.error());
  if (names->empty() || settings.transports_beside_default) *names = with_default(*names);
  if (names->size() > kTransportsMax)
    return fail(
        Errc::kInvalid,
        "LIVEBTL_TRANSPORTS names more than " + std::to_string(kTransportsMax) + " transports" +
            (settings.transports_beside_default ? ", counting those that are used by default"
                                                : ""));
  const std::size_t room_for_family = kTransportsMax - names->size() + 1;
  Kinds wanted;
  for (const std::string& name : *names) {
    auto kinds = transports::all_named(name, settings.verbs_device, room_for_family);
    if (!kinds) return tl::unexpected(kinds.error());
    for (core::TransportKind& kind : *kinds) {
      if (!holds(wanted, kind.name)) wanted.push_back(std::move(kind));
    }
  }
  return wanted;
}

/// Does one of the names mean this transport, or one of its family?
bool names(const Names& names, const core::TransportKind& kind) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return is_meant_by(name, kind.name) || name == kind.alias;
  });
}

/// The routing until the first order. The same in all processes of a job, whatever their devices.
Result<core::Routing> first_routing(const Settings& settings) {
  core::Routing routing;
  for (const core::TransportKind& kind : transports::builtin()) {
    if (kind.on_request && !names(settings.transports, kind)) routing.excluded.insert(kind.name);
  }
  for (const std::string& name : settings.exclude) {
    const auto kind = kind_named(name, "LIVEBTL_EXCLUDE");
    if (!kind) return tl::unexpected(kind.error());
    routing.excluded.insert(kind->name);
  }
  return routing;
}

}  // namespace

// Order matters: the agent joins the job and learns its routing before any transport is opened.
Result<std::shared_ptr<Runtime>> Runtime::start() {
  auto settings = read_process_settings();
  if (!settings) return tl::unexpected(settings.error());
  auto kinds = wanted_kinds(*settings);
  if (!kinds) return tl::unexpected(kinds.error());
  auto routing = first_routing(*settings);
  if (!routing) return tl::unexpected(routing.error());
  core::EngineConfig config;
  config.routing = std::move(*routing);
  do {
    config.process = static_cast<ProcessId>(random_u64());
  } while (config.process == ProcessId{0});
  const auto job = control::find_job(*settings, config.process);
  if (!job) return tl::unexpected(job.error());
  set_log_level(settings->log_level);
  set_log_prefix("livebtl[" + job->label + "]");
  config.settings = *settings;
  config.kinds = std::move(*kinds);
  config.job = job->id;
  config.label = job->label;
  config.secret = job->secret;
  config.node = job->node;
  config.one_node = job->one_node;
  config.job_directory = job->directory;
  config.seed = random_u64();

  std::shared_ptr<Runtime> runtime(new Runtime());
  const ProcessId process = config.process;
  runtime->engine_ = std::make_unique<core::EngineCore>(std::move(config));
  runtime->engine_->set_owner(runtime);
  auto agent = control::Agent::start(*job, process, *runtime->engine_);
  if (!agent) return tl::unexpected(agent.error());
  runtime->agent_ = std::move(*agent);
  if (auto opened = runtime->engine_->open_transports(); !opened)
    return tl::unexpected(opened.error());
  return runtime;
}

Runtime::Runtime() noexcept : made_by_(::getpid()) { one_engine().existence.begin(); }

// In a forked child, connections, sockets and rings belong to the parent, which still uses them.
Runtime::~Runtime() {
  if (made_by_ != ::getpid()) {
    agent_.reset();
    static_cast<void>(engine_.release());
    return;
  }
  if (engine_ && agent_) engine_->linger();
  agent_.reset();
  engine_.reset();
  one_engine().existence.end();
}

Result<std::shared_ptr<Runtime>> Runtime::acquire() {
  OneEngine& one = one_engine();
  const std::lock_guard lock(one.starting);
  if (auto runtime = one.current.lock()) return runtime;
  one.existence.wait_for_end();
  auto started = start();
  if (started) one.current = *started;
  return started;
}

}  // namespace livebtl::runtime

livebtl::Result<std::shared_ptr<livebtl::Engine>> livebtl::Engine::acquire() {
  auto runtime = runtime::Runtime::acquire();
  if (!runtime) return tl::unexpected(runtime.error());
  return std::shared_ptr<Engine>(*runtime, &(*runtime)->engine());
}
