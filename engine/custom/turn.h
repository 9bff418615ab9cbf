// One at a time at a folder: other programs, and other threads of this one, wait.
#pragma once

#include <filesystem>
#include <stop_token>

#include "engine/base/result.h"

namespace orrery::custom {

class Turn {
 public:
  /// Makes the folder, and waits until nobody else has it. Cancelled where a stop is asked for first. On a
  /// file system without locks nobody is waited for.
  static Result<Turn> at(const std::filesystem::path& folder, const std::stop_token& stop);
  Turn(Turn&& other) noexcept;
  Turn& operator=(Turn&&) = delete;
  ~Turn();  // an empty folder goes with it

 private:
  Turn(std::filesystem::path folder, int descriptor) : folder_(std::move(folder)), descriptor_(descriptor) {}

  Result<void> wait(const std::stop_token& stop) const;

  std::filesystem::path folder_;
  int descriptor_ = -1;
  bool has_come_ = false;
};

}  // namespace orrery::custom
