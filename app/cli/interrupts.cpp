#include "app/cli/interrupts.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

namespace orrery::cli {
namespace {

constexpr int kImpatient = 3;  // so many Ctrl+C without an end: leave at once
constexpr int kInterruptedExit = 130;

void raise_event(int descriptor) {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = write(descriptor, &one, sizeof one);
}

void tell_that_it_waits() {
  constexpr std::string_view kText =
      "\nWaiting for what runs to come to its end; Ctrl+C once more leaves at once\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
}

}  // namespace

Interrupts::Interrupts()
    : interrupted_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), finish_(eventfd(0, EFD_CLOEXEC)) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signals_ = signalfd(-1, &signals, SFD_CLOEXEC);
  thread_ = std::thread([this] { watch(); });
}

Interrupts::~Interrupts() {
  raise_event(finish_);
  thread_.join();
  for (const int descriptor : {signals_, interrupted_, finish_})
    if (descriptor >= 0) close(descriptor);
}

std::stop_token Interrupts::token() const {
  const std::lock_guard lock(mutex_);
  return source_.get_token();
}

void Interrupts::rearm() {
  const std::lock_guard lock(mutex_);
  source_ = std::stop_source();
  uint64_t count = 0;
  [[maybe_unused]] const auto drained = read(interrupted_, &count, sizeof count);
}

bool Interrupts::wait_readable(int descriptor) const {
  pollfd waits[2] = {{descriptor, POLLIN, 0}, {interrupted_, POLLIN, 0}};
  while (poll(waits, 2, -1) < 0)
    if (errno != EINTR) return true;  // the read itself will tell what is wrong
  return (waits[1].revents & POLLIN) == 0;
}

void Interrupts::watch() {
  int received = 0;
  for (;;) {
    pollfd waits[2] = {{signals_, POLLIN, 0}, {finish_, POLLIN, 0}};
    if (poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents != 0) return;
    signalfd_siginfo info;
    if (read(signals_, &info, sizeof info) != sizeof info) continue;
    std::stop_source source;
    {
      const std::lock_guard lock(mutex_);
      received = source_.stop_requested() ? received + 1 : 1;
      source = source_;
    }
    if (received >= kImpatient) _exit(kInterruptedExit);
    if (received == kImpatient - 1) tell_that_it_waits();
    raise_event(interrupted_);
    source.request_stop();
  }
}

}  // namespace orrery::cli
