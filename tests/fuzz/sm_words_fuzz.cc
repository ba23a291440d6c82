// SPDX-License-Identifier: BSD-3-Clause
// Shared memory whose other end writes whatever it likes: a whole engine over the product's sm
// transport, an honest program on it, a neighbour that has proved itself and then changes any word
// of its segment between the engine's steps and during them, and another engine that keeps talking.
// The engine may lose the neighbour, for a reason that it names; it must stay whole, touch nothing
// outside the segment, do bounded work in each turn, end each operation of the program once, and
// deliver everything that the honest engines send each other.
//
// Input: the length of the second writer's input (odd: the engines copy by KNEM), that input, then
// steps, one byte each, followed by what they need; see Session::step().
#include <sys/mman.h>

#include "base/log.h"
#include "core/path/address.h"
#include "tests/conformance/job_directory.h"
#include "tests/fuzz/session/application.h"
#include "tests/fuzz/sm/conversation.h"
#include "tests/fuzz/sm/neighbour.h"

namespace {

using namespace livebtl;
using namespace livebtl::fuzz;

constexpr std::uint32_t kCreditHeaders = 16;
constexpr std::uint32_t kUnexpectedBytes = 4096;
constexpr std::size_t kKeptMax =
    kCreditHeaders + kUnexpectedBytes / core::Unexpected::kMemoryBytesMin;
constexpr std::uint64_t kEngine = 100, kOther = 101;

Secret secret() { return Secret(std::array<std::byte, 32>{std::byte{7}}); }

core::EngineConfig config(std::uint64_t process, const std::string& directory, Watch* watch,
                          const TimeNs& now, SingleCopy way, conformance::FakeKnem& knem) {
  core::EngineConfig config;
  config.settings.credit_headers = kCreditHeaders;
  config.settings.credit_bytes = 65536;
  config.settings.unexpected_bytes = kUnexpectedBytes;
  config.settings.linger_ms = 0;
  config.settings.sm_ring_bytes = kRingBytes;
  config.settings.sm_single_copy = way;
  config.settings.box_after = 2;
  config.job = "fuzz";
  config.label = "rank " + std::to_string(process);
  config.secret = secret();
  config.process = ProcessId{process};
  config.node = Neighbour::kNode;
  config.one_node = true;
  config.job_directory = directory;
  config.kinds = {fuzz::sm_kind(watch, knem)};
  config.now = [&now] { return now; };
  config.seed = process;
  return config;
}

class Session {
 public:
  Session(Input& input, Input& meanwhile, const std::string& directory,
          const sm::SocketDirectory& sockets, SingleCopy way)
      : input_(input),
        meanwhile_(meanwhile),
        engine_(config(kEngine, directory, &watch_, now_, way, knem_)),
        other_(config(kOther, directory, nullptr, now_, way, knem_)),
        neighbour_(sockets, secret(), ProcessId{kEngine}, knem_, way == SingleCopy::kKnem) {
    must_hold(engine_.open_transports() && other_.open_transports(), "the transport opens");
    conversation_.emplace(engine_, other_);
    application_.emplace(engine_, *engine_.peer(core::encode_address(ProcessId{Member::kProcess},
                                                                     Member::kPort, {})));
    begin();
  }
  ~Session() {
    must_hold(knem_.mistakes == 0, "the driver is asked for nothing that is not there");
    must_hold(application_->unexpected() <= kKeptMax, "no more is kept than was granted");
    for (int turns = 0; turns < 2000 && !conversation_->settled(); ++turns) turn();
    must_hold(conversation_->settled(), "what honest processes have sent arrives");
    Reached::note(!lost() && watch_.refused == 0);
    application_.reset();
    conversation_.reset();
  }

  void run() {
    for (int steps = 0; !input_.empty() && steps < 400 && !lost(); ++steps) step();
  }

 private:
  void begin() {
    if (input_.below(8) == 1) neighbour_.connect_badly(input_);
    const bool untouched = input_.below(4) != 1;
    Input none(nullptr, 0);
    neighbour_.connect(untouched ? none : input_);
    for (int turns = 0; turns < 8; ++turns) turn();
    if (untouched) must_hold(neighbour_.member().proved(), "an honest handshake opens a path");
    watch_.meanwhile = [this] {
      if (meanwhile_.below(4) == 1) neighbour_.scribble(meanwhile_);
    };
  }
  void turn() {
    neighbour_.member().target = application_->port();
    now_ += 2 * kMillisecond;
    neighbour_.pump();
    for (core::EngineCore* engine : {&engine_, &other_}) {
      engine->wait(0);  // reads the clock
      engine->progress();
    }
    conversation_->turn();
  }
  void step() {
    switch (input_.below(14)) {
      case 0:
      case 1:
      case 2:
        return neighbour_.scribble(input_);
      case 3:
        return neighbour_.member().invent(input_);
      case 4:
      case 5:
        return neighbour_.member().answer();
      case 6:
      case 7:
        return application_->act(input_);
      case 8:
        return neighbour_.act(input_);
      case 9:
        return conversation_->send(input_.below(2));
      case 10:
        now_ += kMillisecond << input_.below(12);
        return turn();
      default:
        return turn();
    }
  }
  bool lost() {
    for (const auto& peer : engine_.status().peers) {
      if (peer.process == ProcessId{Member::kProcess}) return peer.lost;
    }
    return false;
  }

  Input& input_;
  Input& meanwhile_;  // for the second writer
  TimeNs now_ = kSecond;
  conformance::FakeKnem knem_;
  Watch watch_{.meanwhile = [] {}};
  core::EngineCore engine_, other_;
  Neighbour neighbour_;
  std::optional<Conversation> conversation_;
  std::optional<Application> application_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const conformance::JobDirectory directory;
  static const auto sockets = sm::SocketDirectory::open(directory.path());
  set_log_level(LogLevel::kError);
  const std::size_t head = std::min<std::size_t>(size, 1);
  const std::size_t during = head == 0 ? 0 : std::min<std::size_t>(data[0], size - head);
  Input meanwhile(data + head, during);
  Input input(data + head + during, size - head - during);
  const SingleCopy way = during % 2 == 1 ? SingleCopy::kKnem : SingleCopy::kCma;
  Session(input, meanwhile, directory.path(), *sockets, way).run();
  return 0;
}
