#include "engine/weights/weight_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/weights/memory_state.h"

namespace orrery::weights {
namespace {

namespace fs = std::filesystem;

Error missing(const fs::path& path, const std::error_code& error) {
  return {ErrorCode::not_found,
          error == std::errc::no_such_file_or_directory
              ? "The file is not there"
              : fmt::format("The file cannot be read: {}", error.message()),
          path.string(), "put it back, or undo the edit that reads it"};
}

Result<std::string> stamp_of_file(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  const auto written = error ? fs::file_time_type() : fs::last_write_time(path, error);
  if (error) return missing(path, error);
  return fmt::format("{}@{}", bytes, written.time_since_epoch().count());
}

}  // namespace

Result<std::string> stamp_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return stamp_of_file(path);
  std::vector<fs::path> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file(error)) files.push_back(it->path());
  if (error) return missing(path, error);
  std::sort(files.begin(), files.end());
  std::string all;
  for (const fs::path& file : files) {
    ORRERY_ASSIGN(const std::string stamp, stamp_of_file(file));
    all += fmt::format("{}{}={}", all.empty() ? "" : " ", file.filename().string(), stamp);
  }
  return all;
}

bool same_tensor(std::string_view adapters, std::string_view name) {
  return adapters == name || adapters == io::without_encoder_prefix(name);
}

Result<std::shared_ptr<const WeightFile>> WeightFile::open(const fs::path& path, const io::ModelFile* model) {
  auto opened = std::make_shared<WeightFile>();
  ORRERY_ASSIGN(opened->stamp_, stamp_of(path));
  std::error_code error;
  bool adapts = fs::exists(path / "adapter_config.json", error);
  if (!adapts) {
    ORRERY_ASSIGN(opened->file_, io::open_model(path, {}, {}));
    const std::string* type = opened->file_->metadata.text("general.type");
    adapts = type && *type == "adapter";
  }
  if (adapts && !model)
    return Error{ErrorCode::invalid_argument, "It is an adapter, not a file of tensors", path.string(),
                 "put it on with adapter dir=..."};
  if (adapts) {
    ORRERY_ASSIGN(auto adapter, io::open_adapter(path));
    ORRERY_ASSIGN(opened->adapter_, io::fit_adapter(*model, std::move(adapter)));
    ORRERY_TRY(io::check_adapter(*model, *opened->adapter_));
    opened->file_ = opened->adapter_->file;
  }
  return std::shared_ptr<const WeightFile>(std::move(opened));
}

const io::Tensor* WeightFile::find(std::string_view tensor) const {
  if (!adapter_) return file_->find(tensor);
  for (const io::Tensor& whole : adapter_->whole)
    if (same_tensor(whole.name, tensor)) return &whole;
  const bool is_a = tensor.ends_with(kLowRankA);
  if (!is_a && !tensor.ends_with(kLowRankB)) return nullptr;
  const io::Adapter::LowRank* pair = low_rank(tensor.substr(0, tensor.size() - kLowRankA.size()));
  return !pair ? nullptr : is_a ? &pair->a : &pair->b;
}

const io::Adapter::LowRank* WeightFile::low_rank(std::string_view tensor) const {
  return adapter_ ? find_low_rank(*adapter_, tensor) : nullptr;
}

const io::Adapter::LowRank* find_low_rank(const io::Adapter& adapter, std::string_view tensor) {
  const auto found = std::ranges::find_if(
      adapter.low_rank, [&](const io::Adapter::LowRank& pair) { return same_tensor(pair.target, tensor); });
  return found == adapter.low_rank.end() ? nullptr : &*found;
}

void WeightFile::drop(std::span<const std::byte> bytes) const {
  for (const auto& mapped : file_->files) mapped->drop(bytes);
}

Result<void> WeightFile::check() const {
  for (const auto& mapped : file_->files) ORRERY_TRY(mapped->check());
  return {};
}

uint64_t WeightFile::resident() const {
  uint64_t bytes = 0;
  for (const io::Tensor& tensor : file_->tensors) bytes += resident_bytes(tensor.data);
  return bytes;
}

}  // namespace orrery::weights
