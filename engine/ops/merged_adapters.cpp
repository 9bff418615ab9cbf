#include "engine/ops/merged_adapters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery::ops {

std::string write_merged(const std::vector<MergedAdapter>& merged) {
  std::string text;
  for (const MergedAdapter& adapter : merged)
    text += fmt::format("{}{} {}\t{}", text.empty() ? "" : "\n", adapter.factor, adapter.path, adapter.stamp);
  return text;
}

std::vector<MergedAdapter> parse_merged(std::string_view text) {
  std::vector<MergedAdapter> merged;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    MergedAdapter adapter;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), adapter.factor);
    const std::string_view rest = line.substr(static_cast<size_t>(end - line.data()));
    const size_t tab = rest.rfind('\t');
    if (error != std::errc() || !rest.starts_with(' ') || tab == std::string_view::npos) continue;
    adapter.path = rest.substr(1, tab - 1);
    adapter.stamp = rest.substr(tab + 1);
    merged.push_back(std::move(adapter));
  }
  return merged;
}

}  // namespace orrery::ops
