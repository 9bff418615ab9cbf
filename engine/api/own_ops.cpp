#include "engine/api/own_ops.h"

#include "engine/api/guard.h"
#include "engine/custom/own_kernel.h"
#include "engine/custom/store.h"
#include "engine/ops/lowering.h"

namespace orrery::api {
namespace {

/// Where it runs here, of an op or of what the registry runs.
template <class Made>
std::vector<std::string> devices_of(const Made& op) {
  std::vector<std::string> devices = {"cpu"};
  if (op.written_for_cards && op.not_on_card.empty()) devices.emplace_back("cuda");
  return devices;
}

OwnOpReport told(const custom::Report& report) {
  OwnOpReport told{report.name,        report.doc,    report.content, report.passed, report.cached,
                   report.diagnostics, report.checks, report.cases,   report.card};
  told.failure = report.failure();
  if (!report.op) return told;
  told.devices = devices_of(*report.op);
  told.backward = report.op->library->has_backward();
  return told;
}

}  // namespace

Result<OwnOpReport> compile_own_op(std::vector<custom::SourceFile> files, const Watch& watch) {
  return guarded([&]() -> Result<OwnOpReport> {
    ORRERY_ASSIGN(const custom::Sources sources, custom::Sources::of(std::move(files)));
    ORRERY_ASSIGN(const custom::Report report, custom::Store::of_user().compile(sources, watch));
    return told(report);
  });
}

Result<OwnOpReport> check_own_op(std::vector<custom::SourceFile> files, const Watch& watch) {
  return guarded([&]() -> Result<OwnOpReport> {
    ORRERY_ASSIGN(const custom::Sources sources, custom::Sources::of(std::move(files)));
    ORRERY_ASSIGN(const custom::Report report, custom::Store::of_user().check(sources, watch));
    return told(report);
  });
}

Result<OwnOpReport> add_own_op(std::vector<custom::SourceFile> files, const Watch& watch) {
  return guarded([&]() -> Result<OwnOpReport> {
    ORRERY_ASSIGN(const custom::Sources sources, custom::Sources::of(std::move(files)));
    const custom::Store store = custom::Store::of_user();
    ORRERY_ASSIGN(const custom::Report report, store.check(sources, watch));
    if (report.passed) ORRERY_TRY(store.add(sources, report, *ops::registry()));
    return told(report);
  });
}

Result<void> remove_own_op(const std::string& name) {
  return guarded([&] { return custom::Store::of_user().remove(name, *ops::registry()); });
}

std::vector<OwnOpEntry> list_own_ops() {
  return guarded_or_empty([]() -> std::vector<OwnOpEntry> {
    std::vector<OwnOpEntry> entries;
    for (custom::Store::Kept& kept : custom::Store::of_user().list()) {
      const graph::OpPtr op = ops::registry()->find(kept.name);
      const auto running = op ? custom::running_of(*op) : nullptr;
      entries.push_back({std::move(kept.name), std::move(kept.content), kept.folder.string(),
                         std::move(kept.files),
                         running ? "" : "it could not be loaded; check its files again"});
      if (!running) continue;
      entries.back().devices = devices_of(*running);
      entries.back().backward = op->gradient != nullptr;
    }
    return entries;
  });
}

std::vector<Error> join_own_ops(const Watch& watch) {
  return guarded_or_empty([&] { return custom::Store::of_user().join(*ops::registry(), watch); });
}

void name_contents(std::vector<edit::Edit>& edits) { edit::name_contents(*ops::registry(), edits); }

}  // namespace orrery::api
