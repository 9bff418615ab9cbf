#include "run_cli.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace orrery::cli::test {
namespace {

namespace fs = std::filesystem;

struct Child {
  pid_t id = -1;
  int out = -1, err = -1;
};

Child start(const Words& arguments, const std::string& input) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const std::string input_file = scratch_file("stdin", input);
  std::vector<std::string> words = {ORRERY_CLI};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t id = fork();
  if (id == 0) {
    dup2(open(input_file.c_str(), O_RDONLY), STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  return {id, out[0], err[0]};
}

/// Reads both streams to their ends; sends SIGINT when text arrives or the time is over, if asked.
Outcome finish(const Child& child, int interrupt_after_ms) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  Outcome outcome;
  bool open[2] = {true, true}, sent = interrupt_after_ms < 0;
  while (open[0] || open[1]) {
    pollfd waits[2] = {{open[0] ? child.out : -1, POLLIN, 0}, {open[1] ? child.err : -1, POLLIN, 0}};
    poll(waits, 2, sent ? 1000 : 20);
    for (int i = 0; i < 2; ++i) {
      if (!open[i] || waits[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t count = read(waits[i].fd, buffer, sizeof buffer);
      if (count <= 0) open[i] = false;
      if (count > 0) (i == 0 ? outcome.out : outcome.err).append(buffer, static_cast<size_t>(count));
    }
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
    if (!sent && (!outcome.out.empty() || elapsed > interrupt_after_ms)) {
      kill(child.id, SIGINT);
      sent = true;
    }
    if (elapsed > 300'000) {
      ADD_FAILURE() << "the program does not end";
      kill(child.id, SIGKILL);
      break;
    }
  }
  close(child.out);
  close(child.err);
  int status = 0;
  waitpid(child.id, &status, 0);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return outcome;
}

class Scratch {
 public:
  Scratch() : folder_(fs::temp_directory_path() / ("orrery_cli_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

}  // namespace

nlohmann::json Outcome::json() const {
  auto document = nlohmann::json::parse(out, nullptr, false);
  EXPECT_FALSE(document.is_discarded())
      << "exit " << exit_code << "\nout: " << out.substr(0, 400) << "\nerr: " << err;
  return document;
}

Outcome run(const Words& arguments, const std::string& input) { return finish(start(arguments, input), -1); }

Outcome run_and_interrupt(const Words& arguments, int wait_ms, const std::string& input) {
  return finish(start(arguments, input), wait_ms);
}

void expect_refused(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find("): "), std::string::npos) << "no place or no advice: " << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json golden(const std::string& name, const std::string& part) {
  return nlohmann::json::parse(read_file(std::string(ORRERY_TEST_DATA) + "/golden/" + name)).at(part);
}

std::string scratch_file(const std::string& name, const std::string& content) {
  static const Scratch scratch;
  const fs::path path = scratch.folder() / name;
  std::ofstream(path, std::ios::binary) << content;
  return path.string();
}

std::string models_folder() {
  if (const char* folder = std::getenv("ORRERY_MODELS")) return folder;
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  return (cache && *cache ? fs::path(cache) : fs::path(home ? home : "") / ".cache") / "orrery/models";
}

}  // namespace orrery::cli::test
