#include "ui/change/change_rows.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "ui/graph/edit_words.h"
#include "ui/session/model_title.h"
#include "ui/session/step_words.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

using Kind = api::NodeChange::Kind;
constexpr std::pair<Kind, const char*> kKinds[] = {
    {Kind::added, "added"}, {Kind::removed, "removed"}, {Kind::changed, "changed"}};
constexpr size_t kMostDevices = 2;
constexpr double kSameShare = 0.0005;  // of a time: less than is written

QString text(const std::string& words) { return QString::fromStdString(words); }

/// "+3.1 MB"; "same".
QString signedBytes(double difference) {
  if (difference == 0) return QStringLiteral("same");
  return (difference > 0 ? QStringLiteral("+") : QStringLiteral("\u2212")) +
         format::bytes(std::abs(difference));
}

ChangeRow stepTime(const api::StepTimeChange& step) {
  ChangeRow row{"step time", {}, format::dash(), {}, Token::text3, {}};
  if (step.before > 0) row.before = format::time(step.before, !step.before_measured);
  if (step.after > 0) row.after = format::time(step.after, true);
  if (step.unknown_nodes > 0)
    row.detail = QString("without %1 of unknown speed")
                     .arg(format::counted(static_cast<qint64>(step.unknown_nodes), "node"));
  if (step.before <= 0 || step.after <= 0) return row;
  const double share = step.after / step.before - 1;
  if (std::abs(share) < kSameShare) {
    row.difference = "same";
    return row;
  }
  row.difference = (share > 0 ? "+" : "\u2212") + format::percent(std::abs(share));
  row.token = share > 0 ? Token::warn : Token::ok;
  return row;
}

ChangeRow memory(const api::MemoryChange& change) {
  const auto bytes = [](const api::MemoryUse& use) { return static_cast<double>(use.session()); };
  const double difference = bytes(change.after) - bytes(change.before);
  const QString device = deviceTitle(change.device);
  return {change.device == graph::kCpu ? device + " memory" : device,
          format::bytes(bytes(change.before)),
          format::bytes(bytes(change.after)),
          signedBytes(difference),
          difference > 0   ? Token::warn
          : difference < 0 ? Token::ok
                           : Token::text3,
          {}};
}

/// "gate: eps 1e-05 -> 0.001", "gate: reads gate_proj:dst, not up_proj:dst": as they are called in its scope.
QString firstOf(const std::vector<api::NodeChange>& nodes) {
  const auto told = std::find_if(nodes.begin(), nodes.end(), [](const api::NodeChange& node) {
    return node.kind == api::NodeChange::Kind::changed && !node.differences.empty();
  });
  const api::NodeChange& first = told == nodes.end() ? nodes.front() : *told;
  const QString path = text(first.path), scope = path.left(path.lastIndexOf('.') + 1);
  if (!first.differences.empty()) {
    QString difference = text(first.differences.front());
    if (!scope.isEmpty()) difference.remove(scope);
    return path.mid(scope.size()) + ": " + difference;
  }
  if (first.shape_before != first.shape_after && !first.shape_before.empty() && !first.shape_after.empty())
    return QString("%1: %2 \u2192 %3")
        .arg(text(first.path), text(first.shape_before), text(first.shape_after));
  for (const auto& [kind, name] : kKinds)
    if (kind == first.kind) return text(first.path) + ' ' + name;
  return text(first.path);
}

/// "layers.10.attention.kv_cache", ten states before it -> "from layers.10 on; what 10 layers before it keep
/// ...". are".
QString stateWords(const api::Preview& preview) {
  if (preview.read_again_from.empty()) return {};
  const QString path = text(preview.read_again_from);
  static const QRegularExpression numbered(QStringLiteral("^(.*\\.)?(\\d+)(?=\\.)"));
  const QRegularExpressionMatch layer = numbered.match(path);
  const QString from = layer.hasMatch() ? layer.captured(0) : path;
  if (preview.states_before == 0) return QString("from %1 on").arg(from);
  return QString("from %1 on; what %2 before it keep is as it was")
      .arg(from, format::counted(static_cast<qint64>(preview.states_before),
                                 layer.hasMatch() ? QStringLiteral("layer") : QStringLiteral("state")));
}

ChangeRow nodes(const std::vector<api::NodeChange>& changes) {
  QStringList words;
  for (const auto& [kind, name] : kKinds) {
    const auto count =
        std::count_if(changes.begin(), changes.end(),
                      [kind = kind](const api::NodeChange& one) { return one.kind == kind && !one.drawing; });
    if (count > 0) words += format::count(count) + ' ' + name;
  }
  if (words.isEmpty()) words += format::counted(static_cast<qint64>(changes.size()), "node") + " drawn anew";
  return {"nodes", {}, words.join(", "), {}, Token::text3, firstOf(changes)};
}

bool changesNothing(const api::Preview& preview) {
  return preview.nodes.empty() && preview.tokens_read_again == 0 &&
         std::all_of(preview.memory.begin(), preview.memory.end(), [](const api::MemoryChange& change) {
           return change.before.session() == change.after.session();
         });
}

/// The type of the value at an input as edits name it, "layers.0.mlp.mul.b"; null where there is none.
const graph::ValueType* typeAt(const graph::Graph& graph, const std::string& input, QString& place) {
  const size_t dot = input.rfind('.');
  const NodeId id = dot == std::string::npos ? NodeId() : graph.find_path(input.substr(0, dot));
  if (!id.valid()) return nullptr;
  const graph::Node& node = graph.node(id);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (inputPath(node, static_cast<int>(i)) != input && std::to_string(i) != input.substr(dot + 1)) continue;
    place = placeName(graph, {id, static_cast<int>(i)});
    return node.inputs[i].valid() ? &graph.value(node.inputs[i]).type : nullptr;
  }
  return nullptr;
}

Refusal::Type typeOf(const QString& whose, const graph::ValueType& type) {
  QString shape = text(to_string(type.shape));
  shape.remove('[').remove(']');
  return {whose, shape.split(", ", Qt::SkipEmptyParts), text(std::string(orrery::name_of(type.dtype)))};
}

}  // namespace

std::vector<ChangeRow> changeRows(const api::Preview& preview, bool writes) {
  if (changesNothing(preview))
    return {{"changes", {}, "nothing", {}, Token::text3, "the graph computes the same in the same way"}};
  std::vector<ChangeRow> rows;
  if (preview.step_us.after > 0 || preview.step_us.before > 0) rows.push_back(stepTime(preview.step_us));
  for (size_t i = 0; i < std::min(preview.memory.size(), kMostDevices); ++i)
    rows.push_back(memory(preview.memory[i]));
  if (preview.memory.size() > kMostDevices && !rows.empty())
    rows.back().detail =
        QString("and on %1")
            .arg(format::counted(static_cast<qint64>(preview.memory.size() - kMostDevices), "more device"));
  if (writes)
    rows.push_back({"context",
                    {},
                    preview.tokens_read_again > 0
                        ? format::counted(preview.tokens_read_again, "token") + " read again"
                        : "kept",
                    {},
                    Token::text3,
                    stateWords(preview)});
  if (!preview.nodes.empty()) rows.push_back(nodes(preview.nodes));
  if (!preview.moved.empty())
    rows.push_back({"places",
                    {},
                    format::counted(static_cast<qint64>(preview.moved.size()), "node") + " not where asked",
                    {},
                    Token::warn,
                    text(preview.moved.front().reason)});
  rows.push_back({"refused", {}, "nothing", "\u2713", Token::ok, {}});
  return rows;
}

Refusal changeRefusal(const graph::Graph& graph, const std::vector<edit::Edit>& edits,
                      const api::Preview& preview) {
  const api::Refusal& first = preview.refusals.front();
  const edit::Edit* edit = first.edit && *first.edit < edits.size() ? &edits[*first.edit] : nullptr;
  const QString title =
      edit ? stepWords({}, {*edit}).both() + " is refused" : "The graph that it makes cannot run";
  Refusal refusal = refusalOf(title, first.reason);
  if (!first.reason.where.empty()) refusal.cause += " (" + text(first.reason.where) + ')';
  if (!edit || edit->op != "connect") return refusal;
  const auto input = edit->fields.find("input"), value = edit->fields.find("value");
  if (input == edit->fields.end() || value == edit->fields.end()) return refusal;
  const ValueId given = findValue(graph, value->second);
  QString place;
  const graph::ValueType* takes = typeAt(graph, input->second, place);
  if (!given.valid() || !takes || graph.value(given).type == *takes) return refusal;
  refusal.title = QString("%1 does not take this").arg(place);
  const graph::Node& giver = graph.node(graph.value(given).producer);
  refusal.gives = typeOf(text(giver.name) + " gives", graph.value(given).type);
  refusal.takes = typeOf(place + " takes", *takes);
  return refusal;
}

}  // namespace orrery::ui
