#include "app/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace orrery::cli {
namespace {

constexpr int64_t kRedrawMs = 50;

std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

void print_json(const Json& document) {
  print(document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void print_now(std::string_view text) {
  print(text);
  std::fflush(stdout);
}

void note(const Context& context, std::string_view line) {
  if (!context.quiet) fmt::print(stderr, "{}\n", line);
}

void print_error(const Error& error) { fmt::print(stderr, "error: {}\n", one_line(error.to_string())); }
void print_usage_error(std::string_view text) {
  fmt::print(stderr, "error: {}\n", one_line(std::string(text)));
}

std::string readable_bytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string readable_count(uint64_t count) {
  if (count < 1'000'000) return fmt::format("{}", count);
  if (count < 1'000'000'000) return fmt::format("{:.3g} M", static_cast<double>(count) / 1e6);
  return fmt::format("{:.3g} B", static_cast<double>(count) / 1e9);
}

Result<void> write_file(const std::string& path, std::string_view content) {
  const std::string partial = fmt::format("{}.{}.part", path, getpid());
  const auto refuse = [&] {
    const Error error{ErrorCode::io, fmt::format("The file cannot be written: {}", std::strerror(errno)),
                      path, "Check the folder, its permissions and the free space"};
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    return error;
  };
  {
    std::ofstream file(partial, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file) return refuse();
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0) return refuse();
  return {};
}

ProgressCallback ProgressLine::callback() {
  if (!enabled_) return {};
  return [this](std::string_view stage, uint64_t done, uint64_t total) { show(stage, done, total); };
}

void ProgressLine::show(std::string_view stage, uint64_t done, uint64_t total) {
  const std::lock_guard lock(mutex_);
  if (now_ms() - last_ms_ < kRedrawMs) return;
  last_ms_ = now_ms();
  shown_ = true;
  std::string line = one_line(std::string(stage));
  if (total > 0)
    line += fmt::format(" {:3.0f} %", 100.0 * static_cast<double>(done) / static_cast<double>(total));
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  const std::lock_guard lock(mutex_);
  if (shown_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace orrery::cli
