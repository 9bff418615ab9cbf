#include "ui/graph/source_words.h"

#include <QFileInfo>
#include <QRegularExpression>

#include "engine/api/array_text.h"

namespace orrery::ui {
namespace {

constexpr int kMostRank = 8;

Error notReadAs(const std::string& op) {
  return {ErrorCode::invalid_argument, "It cannot be read", "",
          "write it as " + sourceHint(op).toStdString()};
}

/// "x f32 n, 64" split into its parts; the type and what follows it may be left out.
struct Head {
  QString name;
  DType dtype = DType::f32;
  QString sizes;
};
std::optional<Head> headIn(const QString& words) {
  static const QRegularExpression form(
      "^\\s*([A-Za-z_][\\w.]*)\\s*:?\\s*(?:(f32|f16|bf16|i8|i16|i32|i64|u8|bool)\\b)?"
      "\\s*\\[?([^\\[\\]=]*)\\]?\\s*$");
  const QRegularExpressionMatch match = form.match(words);
  if (!match.hasMatch()) return std::nullopt;
  Head head{match.captured(1), DType::f32, match.captured(3).trimmed()};
  if (!match.captured(2).isEmpty())
    head.dtype = api::element_type_in(match.captured(2).toStdString()).value_or(DType::f32);
  return head;
}

std::string inScope(const std::string& scope, const QString& name) {
  return scope.empty() ? name.toStdString() : scope + "." + name.toStdString();
}

SourceRequest made(edit::Edit edit, const std::string& op, const std::string& path) {
  return {{{std::move(edit)}, QString::fromStdString(op + " " + path)}, path};
}

Result<SourceRequest> inputRequest(const std::string& scope, const Head& head) {
  const std::string path = inScope(scope, head.name);
  return made({"input",
               {{"as", path},
                {"dtype", std::string(name_of(head.dtype))},
                {"shape", QString(head.sizes).remove(' ').toStdString()}}},
              "input", path);
}

/// Of the least rank that the numbers have.
Result<api::Array> arrayIn(const QString& words, const Head& head) {
  Result<api::Array> array = Error{};
  if (!head.sizes.isEmpty()) {
    const auto shape = parse_shape(head.sizes.toStdString());
    if (!shape) return Error{ErrorCode::invalid_argument, "The sizes cannot be read", "", "write [2, 2]"};
    return api::array_in(words.toStdString(), {head.dtype, *shape});
  }
  graph::ValueType type{head.dtype, {}};
  for (int rank = 1; rank <= kMostRank; ++rank) {
    type.shape.push_back(Dim(Symbol("n" + std::to_string(rank))));
    array = api::array_in(words.toStdString(), type);
    if (array.ok() || array.error().code != ErrorCode::shape_mismatch) break;
  }
  return array;
}

Result<SourceRequest> constantRequest(const std::string& scope, const Head& head, const QString& value) {
  const std::string path = inScope(scope, head.name);
  if (value.endsWith(".npy"))
    return made({"constant", {{"as", path}, {"file", value.toStdString()}}}, "constant", path);
  ORRERY_ASSIGN(const api::Array array, arrayIn(value, head));
  std::vector<double> data;
  const int64_t count = api::statistics_of(array).elements;
  for (int64_t i = 0; i < count; ++i) data.push_back(api::number_at(array, i));
  graph::Attributes attributes{{"dtype", std::string(name_of(array.dtype))}, {"shape", array.shape}};
  if (count == 1)
    attributes["value"] = data.front();
  else
    attributes["data"] = std::move(data);
  return made(insertEdit("constant", path, {}, attributes), "constant", path);
}

}  // namespace

QString sourceHint(const std::string& op) {
  if (op == "input") return QStringLiteral("x f32 n, 64");
  return op == "constant" ? QStringLiteral("half = 0.5, or mask f32 = 1, 0; 0, 1")
                          : QStringLiteral("w = /data/w.npy");
}

SourceRequest weightRequest(const graph::Graph& graph, const std::string& scope, const QString& file) {
  static const QRegularExpression others("\\W");
  QString name = QFileInfo(file).completeBaseName().replace(others, "_");
  if (name.isEmpty() || name[0].isDigit()) name.prepend("w");
  const std::string path = freePath(graph, scope, name.toStdString());
  return made({"weight", {{"as", path}, {"file", file.toStdString()}}}, "weight", path);
}

Result<SourceRequest> sourceRequest(const graph::Graph& graph, const std::string& op,
                                    const std::string& scope, const QString& words) {
  const qsizetype equals = words.indexOf('=');
  const auto head = headIn(equals < 0 ? words : words.left(equals));
  const QString value = equals < 0 ? QString() : words.mid(equals + 1).trimmed();
  if (op == "weight" && equals < 0 && !words.trimmed().isEmpty())
    return weightRequest(graph, scope, words.trimmed());
  if (!head || (op == "input") != value.isEmpty()) return notReadAs(op);
  if (op == "input") return inputRequest(scope, *head);
  if (op == "constant") return constantRequest(scope, *head, value);
  const std::string path = inScope(scope, head->name);
  return made({"weight", {{"as", path}, {"file", value.toStdString()}}}, "weight", path);
}

}  // namespace orrery::ui
