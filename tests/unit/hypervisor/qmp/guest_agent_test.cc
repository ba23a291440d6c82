// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/hypervisor/qmp/guest_agent_test.cc -- the guest agent and the guest's btlctl, both
// played by the test.
#include "hypervisor/vm/guest_agent.h"

#include <sodium.h>

#include <thread>

#include "hypervisor/qmp/socket_agent.h"
#include "hypervisor/vm/guest_job.h"
#include "tests/unit/hypervisor/qmp/scripted_peer.h"

using namespace livebtl;
using namespace livebtl::hypervisor;

namespace {

/// Handles one connection: reads the two requests, answers the second.
void serve_one(Fd socket, const std::string& stale, const std::string& answer) {
  JsonLineSocket lines(std::move(socket), "client");
  const auto sync = lines.receive(long_enough());
  if (!sync) return;
  if (!stale.empty()) (void)lines.send(Json::parse(stale), "", long_enough());
  (void)lines.send({{"return", (*sync)["arguments"]["id"]}}, "\xff", long_enough());
  if (lines.receive(long_enough())) (void)lines.send(Json::parse(answer), "", long_enough());
}

/// An agent that gives these answers, one per connection.
class Answers {
 public:
  explicit Answers(std::vector<std::string> answers) : answers_(std::move(answers)) {}
  ~Answers() {
    for (auto& thread : threads_) thread.join();
  }
  SocketAgent agent() {
    return SocketAgent([this](const Deadline&) -> Result<JsonLineSocket> {
      if (next_ == answers_.size()) return fail(Errc::kDown, "no answer is left");
      std::array<int, 2> ends{};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return fail(Errc::kSystem, "socketpair");
      threads_.emplace_back(serve_one, Fd(ends[0]), R"({"return":{"left":"by another"}})",
                            answers_[next_++]);
      return JsonLineSocket(Fd(ends[1]), "agent");
    });
  }

 private:
  std::vector<std::string> answers_;
  std::size_t next_ = 0;
  std::vector<std::thread> threads_;
};

std::string base64(const std::string& text) {
  std::string out(sodium_base64_encoded_len(text.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(text.data()),
                    text.size(), sodium_base64_VARIANT_ORIGINAL);
  out.resize(out.size() - 1);
  return out;
}

std::string ended(int code, const std::string& output) {
  return Json{{"return", {{"exited", true}, {"exitcode", code}, {"out-data", base64(output)}}}}
      .dump();
}

/// Says the same thing as fast as it is received, whatever it is asked.
class Babbler {
 public:
  explicit Babbler(std::string text) : text_(std::move(text)) {}
  ~Babbler() {
    over_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  SocketAgent agent() {
    return SocketAgent([this](const Deadline&) -> Result<JsonLineSocket> {
      auto socket = peer_.socket();
      thread_ = std::thread([this] {
        while (!over_.load()) {
          if (!peer_.says_what_fits(text_)) std::this_thread::yield();
        }
      });
      return socket;
    });
  }

 private:
  std::string text_;
  ScriptedPeer peer_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

constexpr const char* kPid = R"({"return":{"pid":812}})";

}  // namespace

TEST_CASE("base64 as the agent writes it") {
  for (const char* text : {"", "a", "ab", "abc", "\x01\xff\x7f z"})
    CHECK(base64_decoded(base64(text)) == std::string(text));
  CHECK_FALSE(base64_decoded("a"));
  CHECK_FALSE(base64_decoded("ab!d"));
}

TEST_CASE("a program runs in the guest, and its end is waited for") {
  Answers answers({kPid, R"({"return":{"exited":false}})", ended(3, "said\n")});
  auto agent = answers.agent();
  const auto finished = agent.run({"/bin/true", "-x"}, long_enough());
  REQUIRE(finished);
  CHECK(finished->code == 3);
  CHECK(finished->output == "said\n");
}

TEST_CASE("what the agent refuses or garbles is an error, not an end") {
  for (const char* answer :
       {R"({"error":{"class":"GenericError","desc":"no such file"}})", R"({"return":{}})",
        R"({"return":{"pid":-4}})", R"({"return":[]})", R"({"oops":1})"}) {
    CAPTURE(answer);
    Answers answers({answer});
    auto agent = answers.agent();
    CHECK_FALSE(agent.run({"btlctl"}, long_enough()));
  }
  for (const char* status :
       {R"({"return":{"exited":true}})", R"({"return":{"exited":"yes"}})", R"({"return":7})"}) {
    CAPTURE(status);
    Answers answers({kPid, status});
    auto agent = answers.agent();
    CHECK(agent.run({"btlctl"}, long_enough()).error().code == Errc::kCorrupt);
  }
}

TEST_CASE("an agent whose line has no end is given up") {
  Babbler babbler(std::string(1U << 16U, 'x'));
  auto agent = babbler.agent();
  CHECK(agent.host_name(long_enough()).error().code == Errc::kLimit);
}

TEST_CASE("an agent that says a thousand things and no answer ends with our deadline") {
  Babbler babbler("{}\nnothing\n");
  auto agent = babbler.agent();
  CHECK(agent.host_name({monotonic_now() + 50 * kMillisecond, nullptr}).error().code ==
        Errc::kTimeout);
}

TEST_CASE("a guest's name is a name") {
  Answers good({R"({"return":{"host-name":"vm1.site"}})"});
  auto one = good.agent();
  CHECK(*one.host_name(long_enough()) == "vm1.site");
  for (const char* name : {"", "a b", "$(reboot)", "node:x"}) {
    Answers answers({Json{{"return", {{"host-name", name}}}}.dump()});
    auto agent = answers.agent();
    CAPTURE(name);
    CHECK_FALSE(agent.host_name(long_enough()));
  }
}

TEST_CASE("the guest's btlctl is believed only if document and exit code agree") {
  const auto read = [](int code, const std::string& output) {
    return read_answer({code, output, ""}, GuestOrder::kPrepare);
  };
  CHECK(read(0, R"({"exit_code":0,"text":"released","released":true})").code == 0);
  CHECK(read(0, R"({"exit_code":0,"text":"already so","released":false,"already":true})").code ==
        0);
  CHECK(read(0, R"({"exit_code":0,"text":"moved","released":false,"already":false})").code == 6);
  CHECK(read(0, R"({"exit_code":0,"text":"moved","released":1})").code == 6);
  CHECK(read(0, R"({"exit_code":7,"text":"held"})").code == 1);
  CHECK(read(127, "sh: btlctl: not found").code == 1);
  CHECK(read(0, "").code == 1);
  for (const char* name : {"other_holders", "foreign"}) {
    const auto held =
        read(7, R"({"exit_code":7,"text":"held",")" + std::string(name) + R"(":["pid 4, fd 5"]})");
    CHECK(held.code == 7);
    CHECK(held.text.find("pid 4, fd 5") != std::string::npos);
  }
  CHECK(read_answer({0, R"({"exit_code":0,"text":"returning"})", ""}, GuestOrder::kReturn).code ==
        0);
}

TEST_CASE("an order names the guest's own node, and waits while the job is busy") {
  constexpr const char* kName = R"({"return":{"host-name":"vm1"}})";
  Answers answers({kName, kPid, ended(4, R"({"exit_code":4,"text":"busy"})"), kPid,
                   ended(0, R"({"exit_code":0,"text":"released","released":true})")});
  auto agent = answers.agent();
  const Tries tries{kSecond, long_enough().at, false};
  const auto said = give_order(agent, {"/opt/btlctl", "7"}, GuestOrder::kPrepare, tries);
  REQUIRE(said);
  CHECK(said->code == 0);
  const auto words =
      words_of({"/opt/btlctl", "7"}, verb_of(GuestOrder::kReturn, "vm1"), 2 * kSecond);
  const std::vector<std::string> expected = {"/opt/btlctl", "--json",  "--timeout",  "2.000",
                                             "--job",       "7",       "checkpoint", "return",
                                             "--scope",     "node:vm1"};
  CHECK(words == expected);
}

TEST_CASE("a refusal, or members that cannot be found, is final, unless a card comes") {
  constexpr const char* kName = R"({"return":{"host-name":"vm1"}})";
  const TimeNs until = long_enough().at;
  for (const int code : {3, 10}) {
    const std::string refused =
        ended(code, R"({"exit_code":)" + std::to_string(code) + R"(,"text":"no"})");
    const auto returned = [](Answers& answers, const Tries& tries) {
      auto agent = answers.agent();
      return give_order(agent, {"btlctl", ""}, GuestOrder::kReturn, tries)->code;
    };
    Answers once({kName, kPid, refused});
    CHECK(returned(once, {kSecond, until, false}) == code);
    Answers twice({kName, kPid, refused, kPid, ended(0, R"({"exit_code":0,"text":"done"})")});
    CHECK(returned(twice, {kSecond, until, true}) == 0);
    Answers late({kName, kPid, refused});
    CHECK(returned(late, {kSecond, 0, true}) == code);
  }
}

TEST_CASE("a return that goes on in the background is asked after while a card comes") {
  constexpr const char* kName = R"({"return":{"host-name":"vm1"}})";
  const std::string later =
      ended(0, R"({"exit_code":0,"text":"returning","absent":["rank 0: verbs: no device"]})");
  const std::string done = ended(0, R"({"exit_code":0,"text":"done","absent":[]})");
  const TimeNs until = long_enough().at;
  Answers twice({kName, kPid, later, kPid, done});
  auto agent = twice.agent();
  const auto came = give_order(agent, {"btlctl", ""}, GuestOrder::kReturn, {kSecond, until, true});
  CHECK(came->absent.empty());
  Answers late({kName, kPid, later});
  auto last = late.agent();
  const auto waits = give_order(last, {"btlctl", ""}, GuestOrder::kReturn, {kSecond, 0, true});
  CHECK(waits->code == 6);
  CHECK(waits->text.find("rank 0: verbs: no device") != std::string::npos);
  Answers without({kName, kPid, later});
  auto third = without.agent();
  CHECK(give_order(third, {"btlctl", ""}, GuestOrder::kReturn, {kSecond, until, false})->code == 0);
}

TEST_CASE("that there is no job is told from a job that is not found in it") {
  const auto none = [](const std::string& output) {
    return read_answer({2, output, ""}, GuestOrder::kPrepare).no_job;
  };
  CHECK(none(R"({"exit_code":2,"text":"no job runs on this node","members":0})"));
  CHECK_FALSE(none(R"({"exit_code":2,"text":"no node 'vm1' in this job","members":4})"));
  CHECK_FALSE(none(R"({"exit_code":2,"text":"?"})"));
  CHECK_FALSE(none(R"({"exit_code":0,"text":"?","members":0})"));
}
