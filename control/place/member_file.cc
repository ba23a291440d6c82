// SPDX-License-Identifier: BSD-3-Clause
// control/place/member_file.cc -- see member_file.h.
#include "control/place/member_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/hex.h"
#include "base/process_files.h"
#include "control/place/directory.h"
#include "control/place/fork_watch.h"

namespace livebtl::control {
namespace {

constexpr std::size_t kCardBytes = 4096;  // always written as a whole
constexpr std::size_t kCrcDigits = 8;
constexpr std::size_t kTextMax = 512;
constexpr std::string_view kSchema = "livebtl.member/1";

struct flock whole_file(short type) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Typed, bounded look-ups in a JSON object from outside; ok() at the end.
class CardReader {
 public:
  explicit CardReader(const nlohmann::json& json) : json_(json) {}

  std::string text(const char* name, std::size_t bytes_max = kTextMax) {
    const auto found = json_.find(name);
    if (found == json_.end() || !found->is_string()) return bad(std::string());
    auto value = found->get<std::string>();
    return value.size() <= bytes_max ? value : bad(std::string());
  }
  std::int64_t number(const char* name, std::int64_t least, std::int64_t most) {
    const auto found = json_.find(name);
    if (found == json_.end() || !found->is_number_integer()) return bad(std::int64_t{0});
    if (found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
      return bad(std::int64_t{0});
    }
    const auto value = found->get<std::int64_t>();
    return value >= least && value <= most ? value : bad(std::int64_t{0});
  }
  bool flag(const char* name) {
    const auto found = json_.find(name);
    return found != json_.end() && found->is_boolean() ? found->get<bool>() : bad(false);
  }
  /// Also false if it is absent, as in cards of earlier versions.
  bool flag_if_there(const char* name) { return json_.contains(name) && flag(name); }
  bool ok() const noexcept { return ok_; }

 private:
  template <class T>
  T bad(T value) {
    ok_ = false;
    return value;
  }
  const nlohmann::json& json_;
  bool ok_ = true;
};

/// In process_name()'s form: files are named after it, by root even if another user wrote the card.
bool is_node_id(const std::string& text) { return parse_process_name(text, "").has_value(); }

MemberCard read_card(CardReader& reader) {
  MemberCard card;
  const auto process = parse_hex(reader.text("process"));
  card.member.process = ProcessId{process.value_or(0)};
  card.member.incarnation =
      Incarnation{static_cast<std::uint32_t>(reader.number("incarnation", 0, UINT32_MAX))};
  card.mark.pid = static_cast<pid_t>(reader.number("pid", 1, INT32_MAX));
  card.mark.space = static_cast<std::uint64_t>(reader.number("pid_space", 0, INT64_MAX));
  card.run = RunId{parse_hex(reader.text("run")).value_or(0)};
  card.rank = static_cast<int>(reader.number("rank", -1, INT32_MAX));
  card.name = reader.text("name");
  card.node = reader.text("node");
  card.host = reader.text("host");
  card.announced = static_cast<std::uint32_t>(reader.number("announced", 0, UINT32_MAX));
  card.joined = reader.flag("joined");
  card.relay = reader.text("relay");
  card.one_node = reader.flag_if_there("one_node");
  card.left_behind = reader.flag_if_there("left_behind");
  return card;
}

}  // namespace

Described describe(const JobFacts& job, MemberId self) {
  return {self, job.label, job.rank, process_name(ProcessId{job.node}), job.host, job.announced};
}

MemberCard card_of(const JobFacts& job, MemberId self) {
  MemberCard card;
  static_cast<Described&>(card) = describe(job, self);
  card.mark = own_mark();
  card.run = job.run;
  return card;
}

std::string format_card(const MemberCard& card) {
  const nlohmann::json json = {
      {"schema", kSchema},
      {"process", hex_digits(static_cast<std::uint64_t>(card.member.process), 16)},
      {"incarnation", static_cast<std::uint32_t>(card.member.incarnation)},
      {"pid", card.mark.pid},
      {"pid_space", card.mark.space},
      {"run", hex_digits(static_cast<std::uint64_t>(card.run), 16)},
      {"rank", card.rank},
      {"name", card.name},
      {"node", card.node},
      {"host", card.host},
      {"announced", card.announced},
      {"joined", card.joined},
      {"relay", card.relay},
      {"one_node", card.one_node},
      {"left_behind", card.left_behind}};
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize(kCardBytes - kCrcDigits - 1, ' ');
  return text + hex_digits(crc32c(as_bytes(text)), kCrcDigits) + "\n";
}

Result<MemberCard> parse_card(std::string_view text) {
  if (text.size() != kCardBytes) return fail(Errc::kCorrupt, "a member's file has another length");
  const std::string_view body = text.substr(0, kCardBytes - kCrcDigits - 1);
  if (parse_hex(text.substr(body.size(), kCrcDigits)) != crc32c(as_bytes(body))) {
    return fail(Errc::kCorrupt, "a member's file has a wrong checksum");
  }
  const auto padding = body.find_last_not_of(' ') + 1;  // most of it, and slow to parse
  const nlohmann::json json = nlohmann::json::parse(body.substr(0, padding), nullptr, false);
  if (!json.is_object()) return fail(Errc::kInvalid, "a member's file is not a JSON object");
  CardReader reader(json);
  const bool known = reader.text("schema") == kSchema;
  MemberCard card = read_card(reader);
  if (!known || !reader.ok() || card.member.process == ProcessId{} || !is_node_id(card.node)) {
    return fail(Errc::kInvalid,
                "a member's file has fields missing, of a wrong type or out of range");
  }
  return card;
}

std::string card_path(const std::string& directory, ProcessId process) {
  return directory + "/" + process_file(process, kCardFile);
}
std::string gone_path(const std::string& directory, ProcessId process) {
  return directory + "/" + process_file(process, kGoneFile);
}
std::string socket_path(const std::string& directory, ProcessId process) {
  return directory + "/" + process_file(process, kControlSocket);
}

std::optional<ProcessId> parse_process_name(std::string_view name, std::string_view suffix) {
  constexpr int kDigits = 16;
  if (name.size() != kDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  const std::string_view digits = name.substr(0, kDigits);
  const auto value = parse_hex(digits);
  if (!value || *value == 0 || hex_digits(*value, kDigits) != digits) return std::nullopt;
  return ProcessId{*value};
}

Result<bool> lock_held(int fd) {
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(fd, F_OFD_GETLK, &lock) != 0) {
    return fail(Errc::kSystem, std::string("cannot ask for a lock: ") + std::strerror(errno));
  }
  return lock.l_type != F_UNLCK;
}

Result<bool> owner_lives(int fd, const MemberCard& card, std::uint64_t own_space) {
  const auto held = lock_held(fd);
  return held && *held ? Result<bool>(!has_ended(card.mark, own_space)) : held;
}

bool take_lock(int fd) noexcept {
  const struct flock lock = whole_file(F_WRLCK);
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

void retire(const std::string& directory, const MemberCard& card) noexcept try {
  const std::string lock = card_path(directory, card.member.process);
  ::rename(lock.c_str(), gone_path(directory, card.member.process).c_str());
  for (const std::string_view kind : {kPageFile, kControlSocket, kMemorySocket}) {
    ::unlink((directory + "/" + process_file(card.member.process, kind)).c_str());
  }
} catch (const std::bad_alloc&) {
  return;  // the files are stale, and the next one who looks tidies them
}

MemberFile::MemberFile(std::string directory, MemberCard card, Fd fd)
    : directory_(std::move(directory)), card_(std::move(card)), fd_(std::move(fd)) {
  close_in_child(fd_.number());
}

MemberFile::MemberFile(MemberFile&& other) noexcept = default;

MemberFile::~MemberFile() { leave(); }

Result<MemberFile> MemberFile::publish(const std::string& directory, const MemberCard& card) {
  const std::string path = card_path(directory, card.member.process);
  const std::string unnamed = directory + "/" + process_file(card.member.process, kNewCardFile);
  Fd fd(::open(unnamed.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    return fail(Errc::kSystem, "cannot make " + unnamed + ": " + std::strerror(errno) +
                                   (errno == EMFILE ? "; raise ulimit -n" : ""));
  }
  const bool locked = take_lock(fd.number());
  const auto written = write_descriptor(fd.number(), format_card(card));
  if (!locked || !written || ::rename(unnamed.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(unnamed.c_str());
    return fail(Errc::kSystem, "cannot make and lock " + path + ": " + std::strerror(error) +
                                   "; set LIVEBTL_RUNDIR to a local directory with room");
  }
  return MemberFile(directory, card, std::move(fd));
}

Status MemberFile::update(const MemberCard& card) {
  card_ = card;
  const std::string text = format_card(card);
  const ssize_t count = ::pwrite(fd_.number(), text.data(), text.size(), 0);
  if (count == static_cast<ssize_t>(text.size())) return {};
  return fail(Errc::kSystem, "cannot write " + card_path(directory_, card.member.process) + ": " +
                                 std::strerror(errno));
}

void MemberFile::leave() noexcept {
  if (!fd_) return;
  if (!in_forked_child()) retire(directory_, card_);
  forget_in_child(fd_.number());
  fd_.reset();
}

}  // namespace livebtl::control
