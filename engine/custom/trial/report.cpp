#include "engine/custom/trial/report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "engine/custom/trial/guarded.h"

namespace orrery::custom::trial {
namespace {

bool is_finished = false;
uint64_t memory_limit_bytes = 0;

/// Text without allocation, for signal handlers.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const size_t count = std::min(text.size(), sizeof(bytes_) - 1 - size_);
    std::memcpy(bytes_ + size_, text.data(), count);
    size_ += count;
    return *this;
  }
  Line& operator<<(uint64_t number) {
    char digits[20];
    size_t count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0) *this << std::string_view(&digits[--count], 1);
    return *this;
  }
  [[noreturn]] void fail() {
    *this << "\n";
    if (write(kReport, bytes_, size_) < 0) _exit(4);
    _exit(3);
  }

 private:
  char bytes_[600];
  size_t size_ = 0;
};

/// Whether the addresses that are in use come near the limit.
bool memory_is_used_up() {
  if (memory_limit_bytes == 0) return false;
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  char text[64] = {};
  const ssize_t count = file >= 0 ? read(file, text, sizeof(text) - 1) : 0;
  uint64_t pages = 0;
  for (ssize_t i = 0; i < count && text[i] >= '0' && text[i] <= '9'; ++i)
    pages = pages * 10 + static_cast<uint64_t>(text[i] - '0');
  return pages * 4096 > memory_limit_bytes / 10 * 9;
}

/// 1: wrote, 0: read, -1: not known on this machine.
int access_of(const void* context) {
#ifdef __x86_64__
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  static_cast<void>(context);
  return -1;
#endif
}

uintptr_t stack_of(const void* context) {
#ifdef __x86_64__
  return static_cast<uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#else
  static_cast<void>(context);
  return 0;
#endif
}

void on_bad_address(uintptr_t address, const void* context) {
  Line line;
  line << "fail It ";
  const int wrote = access_of(context);
  line << (wrote == 1 ? "writes" : wrote == 0 ? "reads" : "touches");
  if (const GuardedTensor* tensor = GuardedTensor::find(address)) {
    if (const int64_t off = tensor->off(address); off < 0)
      line << " outside its operands: " << static_cast<uint64_t>(-off) << " bytes before the beginning of ";
    else if (off >= static_cast<int64_t>(tensor->bytes()))
      line << " outside its operands: at byte " << static_cast<uint64_t>(off) - tensor->bytes()
           << " after the end of ";
    else
      line << " into an operand that it may only read, byte " << static_cast<uint64_t>(off) << " of ";
    line << tensor->label();
    line.fail();
  }
  if (memory_is_used_up()) (line << " through no pointer, after it had used up the memory of a trial").fail();
  if (address < 65536) (line << " through a null pointer").fail();
  const uintptr_t stack = stack_of(context);
  if (stack != 0 && address + 65536 > stack && address < stack + 65536)
    (line << " beyond its stack: it calls itself without end, or its arrays are too large").fail();
  (line << " memory that is not its own").fail();
}

void on_signal(int signal, siginfo_t* info, void* context) {
  Line line;
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      on_bad_address(reinterpret_cast<uintptr_t>(info->si_addr), context);
      break;
    case SIGFPE:
      (line << "fail It divides a whole number by zero").fail();
    case SIGILL:
      (line << "fail It comes to an illegal instruction: a trap, or code for another processor").fail();
    case SIGABRT:
      (line << "fail It ends the program by abort()").fail();
    default:
      (line << "fail It raised the signal " << static_cast<uint64_t>(signal)).fail();
  }
}

void on_exit_called() {
  if (is_finished) return;
  (Line() << "fail It ends the program by exit()").fail();
}

}  // namespace

void tell(std::string_view kind, std::string_view text) {
  std::string line = fmt::format("{} {}", kind, text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  if (write(kReport, line.data(), line.size()) < 0) _exit(4);
}

void fail(const std::string& what) {
  tell("fail", what);
  _exit(3);
}

void watch(uint64_t memory_limit) {
  memory_limit_bytes = memory_limit;
  static char stack[1 << 16];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGALRM, SIGTRAP})
    sigaction(signal, &action, nullptr);
  std::atexit(on_exit_called);
}

void finished() { is_finished = true; }

void run(const Body& body, const orrery_call& call, int64_t begin, int64_t end) {
  try {
    body.run(call, begin, end);
  } catch (const std::bad_alloc&) {
    fail("It asks for more memory than a trial has");
  } catch (const std::exception& exception) {
    fail(fmt::format("It throws an exception: {}", exception.what()));
  } catch (...) {
    fail("It throws an exception");
  }
}

}  // namespace orrery::custom::trial
