// The real models' graphs, and edits of them by the words that a person writes.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "engine/edit/edit.h"
#include "engine/models/builder.h"

namespace orrery::edit {

using graph::Graph;

inline std::filesystem::path models_folder() {
  if (const char* folder = std::getenv("ORRERY_MODELS")) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"))
    return std::filesystem::path(cache) / "orrery/models";
  return std::filesystem::path(std::getenv("HOME")) / ".cache/orrery/models";
}

inline Graph graph_of(const char* model) {
  auto file = io::open_model(models_folder() / model, {}, {});
  if (!file.ok()) throw std::runtime_error(file.error().to_string());
  auto built = models::build(**file, nullptr);
  if (!built.ok()) throw std::runtime_error(built.error().to_string());
  return std::move(built->graph);
}

inline Result<graph::Journal> edit(Graph& graph, std::string_view words) {
  ORRERY_ASSIGN(const Edit parsed, parse_edit(words));
  return apply(graph, parsed);
}

}  // namespace orrery::edit
