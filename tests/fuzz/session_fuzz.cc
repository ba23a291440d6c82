// SPDX-License-Identifier: BSD-3-Clause
// A whole engine, an honest program on it, and a member of the job that has proved itself and then
// sends whatever it likes: frames out of turn, unsolicited answers, floods, broken connections. The
// engine may lose that member; it must stay whole, end each operation of the program once, and keep
// no more for the member than was granted.
//
// Input: steps, one byte each, followed by what they need; see Session::step().
#include "base/log.h"
#include "core/path/address.h"
#include "tests/fuzz/session/application.h"
#include "tests/fuzz/session/member.h"

namespace {

using namespace livebtl;
using namespace livebtl::fuzz;

constexpr std::uint32_t kCreditHeaders = 16;
constexpr std::uint32_t kUnexpectedBytes = 4096;
constexpr std::size_t kKeptMax =
    kCreditHeaders + kUnexpectedBytes / core::Unexpected::kMemoryBytesMin;
constexpr std::uint64_t kEngine = 100;

Secret secret() { return Secret(std::array<std::byte, 32>{std::byte{7}}); }

core::EngineConfig config(Line& line, const TimeNs& now) {
  core::EngineConfig config;
  config.settings.credit_headers = kCreditHeaders;
  config.settings.credit_bytes = 65536;
  config.settings.unexpected_bytes = kUnexpectedBytes;
  config.settings.linger_ms = 0;
  config.job = "fuzz";
  config.label = "rank 0";
  config.secret = secret();
  config.process = ProcessId{kEngine};
  config.node = 1;
  config.kinds = {line_kind(line)};
  config.now = [&now] { return now; };
  config.seed = 1;
  return config;
}

class Session {
 public:
  explicit Session(Input& input) : input_(input), engine_(config(line_, now_)) {
    must_hold(engine_.open_transports().has_value(), "the transport opens");
    application_.emplace(engine_, *engine_.peer(address_of_member()));
    begin();
  }
  ~Session() {
    Reached::note(!lost());
    must_hold(application_->unexpected() <= kKeptMax, "no more is kept than was granted");
    application_.reset();
  }

  void run() {
    for (int steps = 0; !input_.empty() && steps < 400; ++steps) step();
    line_.busy = false;
    turn(4);
  }

 private:
  /// Connected and proved, whatever the input.
  void begin() {
    Input none(nullptr, 0);
    member_.dial(none);
    turn(6);
    must_hold(member_.open(), "an honest handshake opens a path");
  }
  void turn(int times) {
    member_.target = application_->port();
    for (int i = 0; i < times; ++i) {
      now_ += 2 * kMillisecond;
      engine_.wait(0);  // reads the clock
      engine_.progress();
      member_.read();
    }
  }
  void step() {
    switch (input_.below(10)) {
      case 0:
      case 1:
      case 2:
        return member_.invent(input_);
      case 3:
        return member_.answer();
      case 4:
      case 5:
        return application_->act(input_);
      case 6:
        now_ += kMillisecond << input_.below(12);
        return turn(1);
      case 7:
        return change_line(input_.byte());
      default:
        return turn(1);
    }
  }
  void change_line(std::uint8_t how) {
    switch (how % 4) {
      case 0:
        line_.busy = !line_.busy;
        return;
      case 1:
        line_.keeps_payloads = !line_.keeps_payloads;
        return;
      case 2:
        line_.severed = true;
        return turn(1);
      default:
        member_.dial(input_);
        return turn(3);
    }
  }
  bool lost() {
    for (const auto& peer : engine_.status().peers) {
      if (peer.process == ProcessId{Member::kProcess}) return peer.lost;
    }
    return false;
  }
  static Address address_of_member() {
    return core::encode_address(ProcessId{Member::kProcess}, Member::kPort, {});
  }

  Input& input_;
  TimeNs now_ = kSecond;
  Line line_;
  core::EngineCore engine_;
  Member member_{line_, secret(), ProcessId{kEngine}};
  std::optional<Application> application_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_log_level(LogLevel::kError);
  Input input(data, size);
  Session(input).run();
  return 0;
}
