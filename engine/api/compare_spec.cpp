#include <fmt/format.h>

#include <charconv>

#include "engine/api/compare.h"
#include "engine/api/guard.h"
#include "engine/api/inspect.h"

namespace orrery::api {
namespace {

using Words = std::string;

Error refuse(std::string_view key, const Words& value, std::string_view advice) {
  return {ErrorCode::invalid_argument, fmt::format("\"{}={}\" is no setting of a side", key, value),
          "compare", std::string(advice)};
}

/// The side of a flag that has two words.
Result<bool> one_of(std::string_view key, const Words& value, std::string_view yes, std::string_view no) {
  if (value == yes) return true;
  if (value == no) return false;
  return refuse(key, value, fmt::format("write {}={} or {}={}", key, yes, key, no));
}

template <class Number>
Result<Number> number(std::string_view key, const Words& value) {
  Number parsed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (error != std::errc() || end != value.data() + value.size() || parsed < 0)
    return refuse(key, value, "give a whole number, 0 or more");
  return parsed;
}

Result<void> set(OpenOptions& options, std::string_view key, const Words& value) {
  if (key == "device") {
    options.device = value;
  } else if (key == "model") {
    options.model = value;
  } else if (key == "recipe") {
    options.recipe = value;
  } else if (key == "adapter") {
    options.adapter = value;
  } else if (key == "kv-type") {
    options.kv_type = value;
  } else if (key == "fusion") {
    ORRERY_ASSIGN(options.fusion, one_of(key, value, "on", "off"));
  } else if (key == "disable-pass") {
    options.disabled_passes.push_back(value);
  } else if (key == "precision") {
    ORRERY_ASSIGN(const kernels::Precision precision, parse_precision(value));
    options.precision = name_of(precision);
  } else if (key == "threads") {
    ORRERY_ASSIGN(options.threads, number<int>(key, value));
  } else if (key == "context") {
    ORRERY_ASSIGN(options.context, number<int64_t>(key, value));
  } else {
    return refuse(
        key, value,
        "use device, model, recipe, fusion, disable-pass, adapter, threads, precision, kv-type or context");
  }
  return {};
}

}  // namespace

Result<OpenOptions> with_spec(const OpenOptions& base, std::string_view spec) {
  return guarded([&]() -> Result<OpenOptions> {
    OpenOptions options = base;
    while (!spec.empty()) {
      const size_t end = std::min(spec.find(','), spec.size());
      const std::string_view part = spec.substr(0, end);
      const size_t equals = std::min(part.find('='), part.size());
      const size_t value = std::min(equals + 1, part.size());
      if (!part.empty()) ORRERY_TRY(set(options, part.substr(0, equals), Words(part.substr(value))));
      spec.remove_prefix(std::min(end + 1, spec.size()));
    }
    return options;
  });
}

}  // namespace orrery::api
