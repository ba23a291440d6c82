// SPDX-License-Identifier: BSD-3-Clause
// tests/e2e/programs/proof.cc -- options, agreement on the end, and the line of proof.
#include "proof.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace e2e {
namespace {

[[noreturn]] void usage(const char* program, const char* option) {
  std::fprintf(
      stderr,
      "%s: cannot use option '%s'\nusage: %s [--stop FILE] [--ready FILE] [--rounds N] [--bytes N] "
      "[--messages N] [--growth N] [--seed N]\n",
      program, option, program);
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc{} && end == text.data() + text.size();
}

bool set_option(Options& options, std::string_view name, const char* value) {
  if (name == "--stop") return options.stop_file = value, true;
  if (name == "--ready") return options.ready_file = value, true;
  if (name == "--rounds") return parse(value, options.rounds_max);
  if (name == "--bytes") return parse(value, options.bytes_max);
  if (name == "--messages") return parse(value, options.messages);
  if (name == "--growth") return parse(value, options.growth_bytes);
  if (name == "--seed") return parse(value, options.seed);
  return false;
}

bool exists(const std::string& path) { return !path.empty() && access(path.c_str(), F_OK) == 0; }

/// JSON text of one of our messages: printable, except for quotes and backslashes.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += (c >= ' ' && c <= '~') ? c : '?';
  }
  return out + '"';
}

}  // namespace

Proof::Proof(int argc, char** argv, const char* program) : program_(program) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc || !set_option(options_, argv[i], argv[i + 1])) usage(program, argv[i]);
  }
}

bool Proof::next_round() {
  int more = 1;
  if (rank_ == 0) {
    if (exists(options_.stop_file)) more = 0;
    if (options_.rounds_max > 0 && rounds_ >= options_.rounds_max) more = 0;
  }
  MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rounds_ == 1 || (rounds_ == 0 && more == 0)) ready();
  if (more != 0) ++rounds_;
  return more != 0;
}

void Proof::ready() const {
  if (options_.ready_file.empty()) return;
  // It is read as soon as it appears, so it must appear complete.
  const std::string made = options_.ready_file + "-made." + std::to_string(rank_);
  const std::string path = options_.ready_file + "." + std::to_string(rank_);
  if (std::FILE* file = std::fopen(made.c_str(), "w")) {
    std::fprintf(file, "%d\n", static_cast<int>(getpid()));
    std::fclose(file);
    std::rename(made.c_str(), path.c_str());
  }
}

void Proof::tell_round() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (now - told_at_ < std::chrono::milliseconds(250)) return;
  told_at_ = now;
  std::printf("{\"%s\": %d, \"rounds\": %llu}\n", program_, rank_,
              static_cast<unsigned long long>(rounds_));
  std::fflush(stdout);
}

bool Proof::stopped() const { return exists(options_.stop_file); }

void Proof::compute_until_stop() const {
  volatile std::uint64_t work = options_.seed;
  while (!stopped()) {
    for (int i = 0; i < 200000; ++i) work = work * 6364136223846793005U + 1442695040888963407U;
  }
}

void Proof::note_sent(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  ++sent_;
  sent_bytes_ += bytes;
}

void Proof::note_received(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  ++received_;
  received_bytes_ += bytes;
}

void Proof::note_result(std::uint64_t result) noexcept {
  const std::lock_guard lock(mutex_);
  result_ = result;
}

std::pair<const char*, std::uint64_t*> Proof::named(Fault fault) {
  switch (fault) {
    case Fault::kLost:
      return {"lost", &lost_};
    case Fault::kRepeated:
      return {"repeated", &repeated_};
    case Fault::kOutOfOrder:
      return {"out of order", &out_of_order_};
    case Fault::kCorrupt:
      return {"corrupt", &corrupt_};
    case Fault::kWrong:
      break;
  }
  return {"wrong", &wrong_};
}

void Proof::error(Fault fault, const std::string& text, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const auto [name, counter] = named(fault);
  *counter += count;
  if (errors_.size() >= 10) return;
  errors_.push_back(std::string(name) + ": round " + std::to_string(rounds_) + ": " + text);
  std::fprintf(stderr, "fault: %s\n", errors_.back().c_str());
}

void Proof::expect(bool good, const char* text) {
  if (!good) error(Fault::kWrong, text);
}

int Proof::print_proof() {
  const std::lock_guard lock(mutex_);
  std::string errors;
  for (const std::string& text : errors_) errors += (errors.empty() ? "" : ", ") + quoted(text);
  std::string line = "{\"proof\": " + quoted(program_) + ", \"rank\": " + std::to_string(rank_) +
                     ", \"size\": " + std::to_string(size_) +
                     ", \"pid\": " + std::to_string(getpid());
  const auto add = [&line](const char* name, std::uint64_t value) {
    line += std::string(", \"") + name + "\": " + std::to_string(value);
  };
  add("rounds", rounds_);
  add("result", result_);
  add("sent", sent_);
  add("received", received_);
  add("lost", lost_);
  add("repeated", repeated_);
  add("out_of_order", out_of_order_);
  add("corrupt", corrupt_);
  add("wrong", wrong_);
  add("sent_bytes", sent_bytes_);
  add("received_bytes", received_bytes_);
  line += ", \"errors\": [" + errors + "]}\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
  return lost_ + repeated_ + out_of_order_ + corrupt_ + wrong_ == 0 ? 0 : 1;
}

int Proof::finish() {
  MPI_Barrier(MPI_COMM_WORLD);
  return print_proof();
}

}  // namespace e2e
