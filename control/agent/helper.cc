// SPDX-License-Identifier: BSD-3-Clause
// control/agent/helper.cc -- see helper.h.
//
// Between clone() and execve() the children share this process's memory, each on its own stack,
// while the calling thread waits: they may only make system calls and write to Start. Everything
// they need is prepared beforehand. The calls are raw: sanitizers would attribute vfork(), _exit()
// and operations on descriptors to the calling thread.
#include "control/agent/helper.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace livebtl::control {
namespace {

#define LIVEBTL_IN_CHILD __attribute__((no_sanitize("address", "thread")))

constexpr std::size_t kStackBytes = 64u << 10;
constexpr unsigned kFirstOfOthers = STDERR_FILENO + 1;

struct Start {
  const char* program;
  char* const* arguments;
  char* const* environment;
  void* helper_stack;  // its top
  int error = 0;
};

/// For a child that no stray wait() reaps: its end sends no signal, and the caller waits until it
/// ends or runs another program.
constexpr int kChild = CLONE_VM | CLONE_VFORK;

/// The process that becomes the helper.
LIVEBTL_IN_CHILD int become_helper(void* raw) noexcept {
  Start& start = *static_cast<Start*>(raw);
  ::setsid();
  const long null = ::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
  bool redirected = null >= 0;
  for (long fd = 0; redirected && fd <= STDERR_FILENO; ++fd) {
    // Its own number: clear FD_CLOEXEC.
    redirected = fd == null ? ::syscall(SYS_fcntl, fd, F_SETFD, 0) == 0
                            : ::syscall(SYS_dup3, null, fd, 0) == fd;
  }
  if (redirected) ::execve(start.program, start.arguments, start.environment);
  start.error = errno;
  ::syscall(SYS_exit_group, 1);
  return 1;
}

/// The process in between: its end orphans the helper.
LIVEBTL_IN_CHILD int make_orphan(void* raw) noexcept {
  Start& start = *static_cast<Start*>(raw);
  // The table is this child's own copy; this also empties a full one.
  if (::syscall(SYS_close_range, kFirstOfOthers, ~0u, 0u) != 0) {
    const long most = ::sysconf(_SC_OPEN_MAX);
    for (long fd = kFirstOfOthers; fd < most; ++fd) ::syscall(SYS_close, fd);
  }
  if (::clone(become_helper, start.helper_stack, kChild, raw) < 0) start.error = errno;
  ::syscall(SYS_exit_group, 0);
  return 0;
}

bool is_for_helper(std::string_view variable) noexcept {
  const std::string_view name = variable.substr(0, variable.find('='));
  return name == "PATH" || name == "LD_LIBRARY_PATH" || name.ends_with("SAN_OPTIONS");
}

/// Pointers to the texts, and a null.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

class Stack {
 public:
  Stack() noexcept
      : at_(::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {}
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() {
    if (usable()) ::munmap(at_, kStackBytes);
  }
  bool usable() const noexcept { return at_ != MAP_FAILED; }
  void* top() const noexcept { return static_cast<char*>(at_) + kStackBytes; }

 private:
  void* at_;
};

}  // namespace

std::string helper_program(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&start_helper), &here) == 0) return "";
  const std::string_view library = here.dli_fname;
  const auto slash = library.rfind('/');
  const std::string folder = slash == library.npos ? "." : std::string(library.substr(0, slash));
  return folder + "/livebtl/livebtl-relay";
}

Status start_helper(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    if (is_for_helper(*each)) variables.emplace_back(*each);
  }
  const auto argv = pointers(words);
  const auto envp = pointers(variables);
  Start start{program.c_str(), argv.data(), envp.data(), nullptr};
  const Stack orphan_stack, helper_stack;
  if (!orphan_stack.usable() || !helper_stack.usable())
    return fail(Errc::kNoMemory, "no memory to start " + program);
  start.helper_stack = helper_stack.top();
  const pid_t child = ::clone(make_orphan, orphan_stack.top(), kChild, &start);
  if (child < 0) start.error = errno;
  while (child > 0 && ::waitpid(child, nullptr, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) {
  }
  if (start.error == 0) return {};
  return fail(Errc::kSystem, "cannot start " + program + ": " + std::strerror(start.error) +
                                 "; LIVEBTL_RELAY_PATH names it where it is elsewhere");
}

}  // namespace livebtl::control
