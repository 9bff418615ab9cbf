#include "engine/custom/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace orrery::custom {
namespace {

using Clock = std::chrono::steady_clock;

/// Both ends of a pipe, closed when they go.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool open() const { return ends_[0] >= 0; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close(size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

class Child {
 public:
  Child(const ProcessLimits& limits, std::stop_token stop) : limits_(limits), stop_(std::move(stop)) {}

  Result<ProcessEnd> run(const std::vector<std::string>& command) {
    for (const Pipe& pipe : pipes_)
      if (!pipe.open()) return failed(command, errno);
    ORRERY_TRY(start(command));
    for (Pipe& pipe : pipes_) pipe.close(1);
    const Clock::time_point until = Clock::now() + limits_.time;
    bool stopped = false;
    // Whoever inherited the pipes may outlive the child: its end counts, not theirs.
    while (!reaped()) {
      read_some();
      stopped = stopped || stop_.stop_requested();
      if (!end_.late && (stopped || Clock::now() > until)) {
        end_.late = !stopped;
        kill(-pid_, SIGKILL);
      }
    }
    kill(-pid_, SIGKILL);  // what it started and left
    while (read_some(0)) {
    }
    if (stopped) return cancelled_;
    return std::move(end_);
  }

 private:
  Error failed(const std::vector<std::string>& command, int error) const {
    return {ErrorCode::io, fmt::format("It cannot be started: {}", std::strerror(error)), command.front(),
            ""};
  }

  Result<void> start(const std::vector<std::string>& command) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    for (size_t i = 0; i < pipes_.size(); ++i)
      posix_spawn_file_actions_adddup2(&files, pipes_[i].write_end(), static_cast<int>(i) + 1);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    std::vector<std::string> words = command;
    // Diagnostics in English, whose form is known.
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::string language = "LC_ALL=C";
    std::vector<char*> environment{language.data()};
    for (char** entry = environ; *entry; ++entry)
      if (!std::string_view(*entry).starts_with("LC_ALL=")) environment.push_back(*entry);
    environment.push_back(nullptr);
    const int error =
        posix_spawn(&pid_, words.front().c_str(), &files, &attributes, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) return failed(command, error);
    limit(RLIMIT_CORE, 0);
    if (limits_.memory_bytes > 0) limit(RLIMIT_AS, limits_.memory_bytes);
    return {};
  }

  void limit(__rlimit_resource what, uint64_t most) const {
    const rlimit value{most, most};
    prlimit(pid_, what, &value, nullptr);
  }

  bool reaped() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == 0) return false;
    if (WIFEXITED(status)) end_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
    return true;
  }

  /// Whether any stream had something.
  bool read_some(int wait_ms = 5) {
    const std::array<std::string*, 3> texts = {&end_.output, &end_.errors, &end_.report};
    std::array<pollfd, 3> waits{};
    for (size_t i = 0; i < waits.size(); ++i) waits[i] = {pipes_[i].read_end(), POLLIN, 0};
    if (poll(waits.data(), waits.size(), wait_ms) <= 0) return false;
    bool any = false;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (!(waits[i].revents & (POLLIN | POLLHUP))) continue;
      std::array<char, 4096> part{};
      const ssize_t count = read(waits[i].fd, part.data(), part.size());
      if (count <= 0) {
        pipes_[i].close(0);
        continue;
      }
      any = true;
      if (texts[i]->size() < limits_.output_bytes) texts[i]->append(part.data(), static_cast<size_t>(count));
    }
    if (!any && wait_ms > 0) usleep(1000);  // all closed, and it has not ended
    return any;
  }

  const ProcessLimits& limits_;
  std::stop_token stop_;
  std::array<Pipe, 3> pipes_;  // stdout, stderr, the report
  pid_t pid_ = -1;
  ProcessEnd end_;
  Error cancelled_{ErrorCode::cancelled, "Stopped", "", ""};
};

}  // namespace

Result<ProcessEnd> run_process(const std::vector<std::string>& command, const ProcessLimits& limits,
                               std::stop_token stop) {
  return Child(limits, std::move(stop)).run(command);
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!folders.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string place = std::string(folders.substr(0, end)) + "/" + name;
    if (end > 0 && access(place.c_str(), X_OK) == 0 && !std::filesystem::is_directory(place)) return place;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return "";
}

}  // namespace orrery::custom
