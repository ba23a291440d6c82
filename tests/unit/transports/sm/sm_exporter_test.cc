// SPDX-License-Identifier: BSD-3-Clause
// tests/unit/transports/sm/sm_exporter_test.cc -- large payloads over sm beyond the suite:
// exporters that die, exposures made by hand, kernels and settings that forbid it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include <csignal>

#include "base/log.h"
#include "tests/unit/transports/sm/sm_kit.h"
#include "transports/sm/sm_bell.h"

namespace livebtl::sm {
namespace {

/// A child that dials process 1, then exposes the same bytes to it over and over until it is
/// killed.
[[noreturn]] void be_an_exporter(const std::string& directory) {
  core::NodeFacts facts;
  facts.process = ProcessId{2};
  facts.node = 5;
  facts.job_directory = directory;
  auto made = SmTransport::make(facts, kRingBytes);
  if (!made) ::_exit(1);
  Side side(std::move(*made));
  auto dialled = side.transport->connect(contact_of(1));
  if (!dialled) ::_exit(2);
  End end;
  end.take(std::move(*dialled));
  end.endpoint().trust();
  const Blob header = conformance::pattern(1, 24),
             payload = conformance::pattern(2, kExposureBytesMax);
  while (true) {
    end.endpoint().post({header, payload, 0, true, true});
    end.post_pattern(1, 1, 0);  // the other side takes the first for a hello
    side.turn();
  }
}

/// From here on this process may not read others' memory.
bool forbid_reading() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(rules), rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// A child that dials process 1 and reads what that exposes; half-way through, it may read no more.
/// Exits with 0 if all went as it should.
[[noreturn]] void be_a_borrower(const std::string& directory, std::size_t payloads) {
  core::NodeFacts facts;
  facts.process = ProcessId{2};
  facts.node = 5;
  facts.job_directory = directory;
  auto made = SmTransport::make(facts, kRingBytes);
  if (!made) ::_exit(1);
  Side side(std::move(*made));
  auto dialled = side.transport->connect(contact_of(1));
  if (!dialled) ::_exit(2);
  End end;
  end.take(std::move(*dialled));
  end.keep_frames = false;
  std::size_t arrived = 0;
  bool good = true;
  end.on_each = [&](Bytes, Bytes payload) {
    if (payload.size() < kRingBytes / 4) return;
    const Blob expected = conformance::pattern(arrived++, kExposureBytesMax);
    good = good && std::equal(payload.begin(), payload.end(), expected.begin(), expected.end());
    if (arrived == payloads / 2 && !forbid_reading()) ::_exit(3);
  };
  while (end.frames == 0) side.turn();
  end.endpoint().trust();
  end.post_pattern(1, 1, 0);  // to let it go on
  while (end.downs.empty()) side.turn();
  ::_exit(good && arrived >= payloads / 2 ? 0 : 4);
}

/// The other side of setups made by hand: an accepted connection, and its segment.
struct ByHand {
  ByHand(Side& side, const JobDirectory& directory) {
    auto made = Segment::make(kRingBytes);
    REQUIRE(made.has_value());
    segment = std::move(made->segment);
    segment.exposures(0).probe = probe;
    segment.exposures(0).probe_address = reinterpret_cast<std::uintptr_t>(&probe);
    memory = std::move(made->memory);
    auto socket_directory = SocketDirectory::open(directory.path());
    REQUIRE(socket_directory.has_value());
    Setup setup;
    setup.node = 5;
    setup.from = ProcessId{2};
    setup.to = ProcessId{1};
    setup.ring_bytes = kRingBytes;
    auto connected = socket_directory->connect(socket_name(ProcessId{1}));
    REQUIRE(connected.has_value());
    socket = std::move(*connected);
    REQUIRE(send_setup(socket, setup, memory).has_value());
    REQUIRE(turn_until(side, [&] { return !side.accepted.empty(); }));
    end.take(std::move(side.accepted.front()));
    side.accepted.clear();
  }
  void write_loan(const ExposureRecord& record,
                  std::size_t record_payload = sizeof(ExposureRecord)) {
    const Blob header(24, std::byte{1});
    RingWriter writer = segment.writer(0);
    writer.put<true>(header, bytes_of(record).first(record_payload),
                     record_bytes(header.size(), record_payload), RecordKind::kExposure);
  }

  std::uint64_t probe = 4711;
  Segment segment;
  Fd memory, socket;
  End end;
};

}  // namespace

TEST_CASE("a peer that is killed while it exposes: nothing arrives but what it exposed, whole") {
  for (const std::size_t frames : {1U, 2U, 20U}) {
    const JobDirectory directory;
    auto side = make_side(directory, 1);
    const pid_t child = ::fork();
    if (child == 0) be_an_exporter(directory.path());
    REQUIRE(turn_until(*side, [&] { return !side->accepted.empty(); }));
    End end;
    end.take(std::move(side->accepted.front()));
    side->accepted.clear();
    end.keep_frames = false;
    const Blob payload = conformance::pattern(2, kExposureBytesMax);
    std::size_t exposed = 0;
    end.on_each = [&](Bytes, Bytes bytes) {
      if (bytes.empty()) return;
      ++exposed;
      CHECK(Blob(bytes.begin(), bytes.end()) == payload);
    };
    REQUIRE(turn_until(*side, [&] { return end.frames > 0; }));
    end.endpoint().trust();
    REQUIRE(turn_until(*side, [&] { return exposed >= frames; }));
    ::kill(child, SIGKILL);
    REQUIRE(turn_until(*side, [&] { return !end.downs.empty(); }));
    CHECK(end.downs[0].code == Errc::kDown);
    ::waitpid(child, nullptr, 0);
  }
}

namespace {

/// Exposes until refused. Returns how many were taken.
std::size_t expose_until_refused(Side& side, End& end, const std::deque<Blob>& payloads) {
  const Blob header = conformance::pattern(1, 24);
  std::size_t posted = 0;
  core::Post answer = core::Post::kPosted;
  REQUIRE(turn_until(side, [&] {
    if (posted == payloads.size() || answer == core::Post::kSmaller) return true;
    answer = end.endpoint().post({header, payloads[posted], posted, true, true});
    posted += answer == core::Post::kPosted;
    return false;
  }));
  CHECK(answer == core::Post::kSmaller);
  return posted;
}

}  // namespace

TEST_CASE("the right to read is taken away while something is exposed: it arrives all the same") {
  set_log_level(LogLevel::kError);
  constexpr std::size_t kPayloads = 10;
  const JobDirectory directory;
  auto side = make_side(directory, 1);
  const pid_t child = ::fork();
  if (child == 0) be_a_borrower(directory.path(), kPayloads);
  REQUIRE(turn_until(*side, [&] { return !side->accepted.empty(); }));
  End end;
  end.take(std::move(side->accepted.front()));
  side->accepted.clear();
  end.endpoint().trust();
  end.post_pattern(1, 1, 0);
  REQUIRE(turn_until(*side, [&] { return end.frames == 1; }));
  std::deque<Blob> payloads;
  while (payloads.size() < kPayloads)
    payloads.push_back(conformance::pattern(payloads.size(), kExposureBytesMax));
  const std::size_t posted = expose_until_refused(*side, end, payloads);
  CHECK(posted >= kPayloads / 2);  // four are on their way when it happens
  REQUIRE(turn_until(*side, [&] { return end.sent.size() == posted; }));
  CHECK(end.downs.empty());
  end.close();
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("exposures that make no sense, or come from strangers, end the connection") {
  const ExposureRecord good{1, 0, kByCma, kExposureBytesMax};
  const auto refused = [](const ExposureRecord& record, bool trusted, std::size_t record_payload) {
    const JobDirectory directory;
    auto side = make_side(directory, 1);
    ByHand peer(*side, directory);
    if (trusted) peer.end.endpoint().trust();
    Blob payload(kExposureBytesMax);
    // As an exporter would write it.
    peer.segment.exposures(0).exposures[0].place = reinterpret_cast<std::uintptr_t>(payload.data());
    peer.segment.exposures(0).exposures[0].state = 1u << 3 | 1u;
    peer.write_loan(record, record_payload);
    REQUIRE(turn_until(*side, [&] { return !peer.end.downs.empty() || peer.end.frames != 0; }));
    return !peer.end.downs.empty() && peer.end.downs[0].code == Errc::kCorrupt;
  };
  constexpr std::size_t kWhole = sizeof(ExposureRecord);
  CHECK(!refused(good, true, kWhole));
  CHECK(refused(good, false, kWhole));
  CHECK(refused(good, true, kWhole - 4));
  CHECK(refused({1, 4, kByCma, kExposureBytesMax}, true, kWhole));
  CHECK(refused({2, 0, kByCma, kExposureBytesMax}, true, kWhole));
  CHECK(refused({1, 0, kByCma, kExposureBytesMax + 1}, true, kWhole));
  CHECK(refused({1, 0, kByNone, kExposureBytesMax}, true, kWhole));
  CHECK(refused({1, 0, kByKnem, kExposureBytesMax}, true, kWhole));  // was never shown
  CHECK(refused({1, 0, kByCma, 4096}, true, kWhole));                // small: sent at once
}

TEST_CASE("where reading another process is switched off, payloads go through the ring in pieces") {
  const JobDirectory directory;
  core::NodeFacts facts;
  facts.process = ProcessId{1};
  facts.node = 5;
  facts.job_directory = directory.path();
  const auto made = SmTransport::make(facts, kRingBytes, SingleCopy::kNone);
  REQUIRE(made.has_value());
  CHECK((*made)->caps().zero_copy_bytes_max == 0);
}

TEST_CASE("a box is for a peer whose sleep is ordered at both ends") {
  for (const bool orders : {false, true}) {
    CAPTURE(orders);
    const JobDirectory directory;
    auto side = make_side(directory, 1);
    ByHand peer(*side, directory);
    peer.segment.reader(1).tell_barrier(orders);
    peer.end.endpoint().trust();
    const bool has_box = peer.end.endpoint().fast_box() != nullptr;
    CHECK(has_box == (orders && register_barrier()));
  }
}

TEST_CASE("a hello that is heard when its sender has gone already hurts nobody") {
  const JobDirectory directory;
  auto side = make_side(directory, 1);
  ByHand peer(*side, directory);
  peer.socket.reset();
  REQUIRE(turn_until(*side, [&] { return !peer.end.downs.empty(); }));
  peer.end.endpoint().trust();
  CHECK(peer.end.endpoint().fast_box() == nullptr);
}

TEST_CASE("nothing is exposed to a peer that may not read here") {
  const JobDirectory directory;
  auto side = make_side(directory, 1);
  ByHand peer(*side, directory);
  peer.end.endpoint().trust();
  const Blob header(24), payload(kExposureBytesMax);
  CHECK(peer.end.endpoint().post({header, payload, 1, true, true}) == core::Post::kSmaller);
  peer.segment.exposures(1).readable = 1;
  CHECK(peer.end.endpoint().post({header, payload, 1, true, true}) == core::Post::kPosted);
  CHECK(peer.end.endpoint().in_flight() == 1);
}

}  // namespace livebtl::sm
