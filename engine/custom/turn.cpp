#include "engine/custom/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/base/progress.h"

namespace orrery::custom {
namespace {

constexpr std::chrono::milliseconds kPause{10};
constexpr int kTries = 100;  // at a folder that others make and take away

/// The one before may have taken the folder away while its lock was waited for.
bool is_still(const std::filesystem::path& folder, int descriptor) {
  struct stat there {
  }, held{};
  return ::stat(folder.c_str(), &there) == 0 && ::fstat(descriptor, &held) == 0 &&
         there.st_ino == held.st_ino && there.st_dev == held.st_dev;
}

Error cannot_make(const std::filesystem::path& folder, int error) {
  return {ErrorCode::io, "The folder cannot be made: " + std::generic_category().message(error),
          folder.string(), "check the permissions there"};
}

}  // namespace

Result<Turn> Turn::at(const std::filesystem::path& folder, const std::stop_token& stop) {
  for (int tries = 1;; ++tries) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    const int descriptor = error ? -1 : ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
      const int reason = error ? error.value() : errno;
      if (reason == ENOENT && tries < kTries) continue;  // the one before took it away meanwhile
      return cannot_make(folder, reason);
    }
    Turn turn(folder, descriptor);
    ORRERY_TRY(turn.wait(stop));
    if (is_still(folder, descriptor)) {
      turn.has_come_ = true;
      return turn;
    }
  }
}

Result<void> Turn::wait(const std::stop_token& stop) const {
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    if (stop.stop_requested()) return cancelled_error();
    std::this_thread::sleep_for(kPause);
  }
  return {};
}

Turn::Turn(Turn&& other) noexcept
    : folder_(std::move(other.folder_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      has_come_(other.has_come_) {}

Turn::~Turn() {
  if (descriptor_ < 0) return;
  std::error_code ignored;
  if (has_come_) std::filesystem::remove(folder_, ignored);
  ::close(descriptor_);
}

}  // namespace orrery::custom
