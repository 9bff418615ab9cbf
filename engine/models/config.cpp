#include "engine/models/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::models {
namespace {

/// A whole number, or the one that all entries of a list are.
std::optional<int64_t> whole(const Metadata& metadata, const std::string& key) {
  if (const auto number = metadata.integer(key)) return number;
  const auto* list = metadata.integers(key);
  if (!list || list->empty()) return std::nullopt;
  const bool equal =
      std::all_of(list->begin(), list->end(), [&](int64_t entry) { return entry == list->front(); });
  return equal ? std::optional(list->front()) : std::nullopt;
}

}  // namespace

Result<int64_t> Config::size(std::string_view key) const {
  if (!has(key)) return refuse(fmt::format("The metadata {} is missing", name(key)));
  const auto value = whole(file_.metadata, name(key));
  if (!value) return refuse(fmt::format("The metadata {} is no single whole number", name(key)));
  if (*value < 1 || *value > kLargestSize)
    return refuse(fmt::format("The metadata {} is {}; it must be 1 to {}", name(key), *value, kLargestSize));
  return *value;
}

Result<int64_t> Config::size(std::string_view key, int64_t fallback) const {
  return has(key) ? size(key) : Result<int64_t>(fallback);
}

Result<double> Config::number(std::string_view key, double least, double most) const {
  if (!has(key)) return refuse(fmt::format("The metadata {} is missing", name(key)));
  const auto value = file_.metadata.number(name(key));
  if (!value) return refuse(fmt::format("The metadata {} is no number", name(key)));
  if (!std::isfinite(*value) || *value < least || *value > most)
    return refuse(fmt::format("The metadata {} is {}; it must be {} to {}", name(key), *value, least, most));
  return *value;
}

Result<double> Config::number(std::string_view key, double least, double most, double fallback) const {
  return has(key) ? number(key, least, most) : Result<double>(fallback);
}

std::string Config::text(std::string_view key, std::string fallback) const {
  const std::string* value = file_.metadata.text(name(key));
  return value ? *value : std::move(fallback);
}

bool Config::flag(std::string_view key, bool fallback) const {
  return file_.metadata.flag(name(key)).value_or(fallback);
}

const std::vector<std::string>* Config::texts(std::string_view key) const {
  return file_.metadata.texts(name(key));
}

const std::vector<int64_t>* Config::integers(std::string_view key) const {
  return file_.metadata.integers(name(key));
}

std::string Config::name(std::string_view key) const {
  const auto other =
      std::find_if(names_.begin(), names_.end(), [&](const KeyName& known) { return known.key == key; });
  return prefix_ + std::string(other == names_.end() ? key : other->name);
}

Error Config::refuse(std::string what, std::string advice) const {
  return {ErrorCode::corrupt_file, std::move(what), file_.path.string(), std::move(advice)};
}

Error Config::unsupported(std::string what, std::string advice) const {
  return {ErrorCode::unsupported, std::move(what), file_.path.string(), std::move(advice)};
}

}  // namespace orrery::models
