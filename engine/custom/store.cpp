#include "engine/custom/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/custom/build.h"
#include "engine/custom/files.h"
#include "engine/graph/own_content.h"

namespace orrery::custom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOpFile = "op.json";

fs::path under(const char* variable, const char* otherwise) {
  const char* named = std::getenv(variable);
  if (named && *named) return fs::path(named) / "orrery";
  const char* home = std::getenv("HOME");
  return fs::path(home && *home ? home : ".") / otherwise / "orrery";
}

/// Takes an op that was added out, if it is there.
void take_out(graph::OpRegistry& registry, const std::string& name) {
  if (const graph::OpPtr there = registry.find(name); there && graph::content_of(*there))
    static_cast<void>(registry.remove(name));  // another thread may have been first
}

/// In the place of those of the same names that were added before.
Result<void> put_in(graph::OpRegistry& registry, const OwnOp& op) {
  std::vector<graph::OpSchema> schemas = schemas_of(op);
  for (const graph::OpSchema& schema : schemas)
    if (const graph::OpPtr there = registry.find(schema.name); there && !graph::content_of(*there))
      return Error{ErrorCode::invalid_argument,
                   fmt::format("The engine has an op {} of its own", schema.name), schema.name,
                   "give yours another name"};
  take_out(registry, op.library->name());
  take_out(registry, op.library->name() + "_backward");
  for (graph::OpSchema& schema : schemas) ORRERY_TRY(registry.add(std::move(schema)));
  return {};
}

}  // namespace

Error Report::failure() const {
  for (const Diagnostic& diagnostic : diagnostics)
    if (diagnostic.severity == Severity::error) {
      const std::string place =
          diagnostic.line > 0 ? fmt::format("{}:{}", diagnostic.file, diagnostic.line) : diagnostic.file;
      return {ErrorCode::invalid_argument, "It does not compile: " + diagnostic.text, place, "fix it there"};
    }
  for (const Check& check : checks)
    if (!check.ok)
      return {ErrorCode::invalid_argument, check.text, name, "it was not loaded here; fix the op"};
  return {ErrorCode::internal, "It passed", name, ""};
}

Store::Store(fs::path cache, fs::path data, TrialLimits limits)
    : cache_(std::move(cache)), data_(std::move(data)), limits_(limits) {}

Store Store::of_user() {
  return {under("XDG_CACHE_HOME", ".cache") / "own_ops", under("XDG_DATA_HOME", ".local/share") / "ops"};
}

Result<Report> Store::check(const Sources& sources, const Watch& watch) const {
  return build_op(sources, cache_, limits_, watch);
}

Result<Report> Store::compile(const Sources& sources, const Watch& watch) const {
  return compile_op(sources, cache_, limits_, watch);
}

Result<void> Store::add(const Sources& sources, const Report& report, graph::OpRegistry& registry) const {
  if (!report.passed || !report.op) return report.failure();
  ORRERY_TRY(put_in(registry, *report.op));
  const fs::path folder = data_ / report.name;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  ORRERY_TRY(write_file(folder / sources.host.name, sources.host.bytes));
  if (sources.cuda) ORRERY_TRY(write_file(folder / sources.cuda->name, sources.cuda->bytes));
  nlohmann::ordered_json json = {
      {"orrery_op", 1}, {"name", report.name}, {"content", report.content}, {"files", {sources.host.name}}};
  if (sources.cuda && sources.cuda->name != sources.host.name) json["files"].push_back(sources.cuda->name);
  return write_file(folder / kOpFile,
                    json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Result<void> Store::remove(const std::string& name, graph::OpRegistry& registry) const {
  const std::vector<Kept> all = list();
  const auto kept = std::ranges::find(all, name, &Kept::name);
  if (kept == all.end())
    return Error{ErrorCode::not_found, "There is no op of one's own of that name", name.substr(0, 80),
                 "orrery-cli custom list shows them"};
  take_out(registry, name);
  take_out(registry, name + "_backward");
  std::error_code error;
  fs::remove_all(kept->folder, error);
  if (error)
    return Error{ErrorCode::io, "It cannot be removed: " + error.message(), kept->folder.string(), ""};
  return {};
}

std::vector<Store::Kept> Store::list() const {
  std::vector<Kept> found;
  std::error_code error;
  for (fs::directory_iterator it(data_, error), end; !error && it != end; it.increment(error)) {
    if (std::error_code none; !it->is_directory(none)) continue;
    Kept kept{it->path().filename().string(), "", it->path(), {}};
    const auto text = read_file(it->path() / kOpFile);
    try {
      const auto json = nlohmann::json::parse(text ? *text : "");
      if (json.at("orrery_op") == 1)
        kept = Kept{json.at("name"), json.at("content"), it->path(),
                    json.at("files").get<std::vector<std::string>>()};
    } catch (const nlohmann::json::exception&) {  // listed under its folder's name, without files
    }
    found.push_back(std::move(kept));
  }
  std::ranges::sort(found, {}, &Kept::name);
  return found;
}

Result<Sources> Store::sources_of(const Kept& kept) const {
  if (kept.files.empty())
    return Error{ErrorCode::corrupt_file,
                 fmt::format("{} is damaged, missing or of a later version", kOpFile), kept.folder.string(),
                 "add the op again, or remove it"};
  std::vector<SourceFile> files;
  for (const std::string& name : kept.files) {
    ORRERY_ASSIGN(SourceFile file, read_source(kept.folder / fs::path(name).filename()));
    files.push_back(std::move(file));
  }
  return Sources::of(std::move(files));
}

std::vector<Error> Store::join(graph::OpRegistry& registry, const Watch& watch) const {
  std::vector<Error> failed;
  for (const Kept& kept : list()) {
    const auto joined = [&]() -> Result<void> {
      ORRERY_ASSIGN(const Sources sources, sources_of(kept));
      ORRERY_ASSIGN(const Report report, check(sources, watch));
      if (!report.passed) return report.failure();
      return put_in(registry, *report.op);
    }();
    if (joined.ok()) continue;
    Error error = joined.error();
    error.where = kept.name + (error.where.empty() || error.where == kept.name ? "" : ", " + error.where);
    failed.push_back(std::move(error));
  }
  return failed;
}

}  // namespace orrery::custom
