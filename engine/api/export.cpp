#include "engine/api/export.h"

#include "engine/api/guard.h"
#include "engine/api/session_impl.h"
#include "engine/exporter/write.h"
#include "engine/io/tensor_writer.h"

namespace orrery::api {
namespace {

struct Planned {
  const SessionImpl& session;
  SessionStatePtr state;
  exporter::Plan plan;
};

/// With a team of its own: the session's goes on serving.
Result<Planned> planned(const Session& session, const ExportOptions& options, kernels::ThreadTeam& team) {
  const auto* impl = dynamic_cast<const SessionImpl*>(&session);
  if (!impl || !impl->state()->version)
    return Error{ErrorCode::unsupported, "Only a model that runs can be exported", session.info().name,
                 "open the model itself"};
  const io::Format format = impl->weights().file().format;
  if (format == io::Format::numpy)
    return Error{ErrorCode::unsupported, "Arrays of NumPy are not a model's file", session.info().name, ""};
  SessionStatePtr state = impl->state();
  ORRERY_ASSIGN(
      exporter::Plan plan,
      exporter::plan({*state->model, *state->history.opened(), impl->source().adapter.get()}, impl->weights(),
                     options.keep_types ? exporter::FoldedAs::stored : exporter::FoldedAs::exact, team));
  return Planned{*impl, std::move(state), std::move(plan)};
}

ExportReport report_of(const exporter::Plan& plan, const SessionImpl& session) {
  ExportReport report;
  for (const exporter::Difference& difference : plan.differences)
    report.problems.push_back({difference.where, difference.what});
  report.dropped = plan.dropped;
  for (const exporter::PlannedTensor& tensor : plan.tensors)
    report.tensors.push_back({tensor.header.name, std::string(tensor.header.type_name()), tensor.header.shape,
                              io::stored_bytes(tensor.header), tensor.how});
  report.bytes = plan.bytes;
  const io::ModelFile& model = session.weights().file();
  report.format = model.format == io::Format::gguf ? "GGUF" : "Hugging Face folder";
  report.architecture = model.architecture;
  return report;
}

}  // namespace

Result<ExportReport> plan_export(const Session& session, const ExportOptions& options) {
  return guarded([&]() -> Result<ExportReport> {
    kernels::ThreadTeam team(1);
    ORRERY_ASSIGN(const Planned made, planned(session, options, team));
    return report_of(made.plan, made.session);
  });
}

Result<ExportReport> export_model(const Session& session, const std::string& path,
                                  const ExportOptions& options, const ProgressCallback& progress,
                                  std::stop_token stop) {
  return guarded([&]() -> Result<ExportReport> {
    kernels::ThreadTeam team(kernels::available_cores());
    ORRERY_ASSIGN(const Planned made, planned(session, options, team));
    ExportReport report = report_of(made.plan, made.session);
    ORRERY_ASSIGN(report.bytes, exporter::write(made.plan, made.session.weights(), path, team,
                                                {progress, std::move(stop)}));
    report.path = path;
    return report;
  });
}

}  // namespace orrery::api
