#include "ui/classify/csv_texts.h"

#include <QFile>

namespace orrery::ui {
namespace {

constexpr qint64 kLargest = 256LL << 20;  // bytes
constexpr qsizetype kSample = 50;         // rows looked at to tell texts from labels

double averageLength(const CsvTexts& table, int column) {
  double sum = 0;
  const qsizetype rows = std::min<qsizetype>(kSample, static_cast<qsizetype>(table.rows.size()));
  for (qsizetype i = 0; i < rows; ++i)
    sum += static_cast<double>(table.rows[static_cast<size_t>(i)].value(column).size());
  return rows > 0 ? sum / static_cast<double>(rows) : 0;
}

int named(const CsvTexts& table, const QStringList& names) {
  for (const QString& name : names)
    for (int i = 0; i < table.columns.size(); ++i)
      if (table.columns[i].trimmed().compare(name, Qt::CaseInsensitive) == 0) return i;
  return -1;
}

bool isTabbed(const QByteArray& text) {
  const QByteArray first = text.left(text.indexOf('\n'));
  return first.contains('\t') && !first.contains(',');
}

CsvTexts parseTabs(const QByteArray& text) {
  CsvTexts table;
  for (QByteArray line : text.split('\n')) {
    if (line.endsWith('\r')) line.chop(1);
    if (line.isEmpty()) continue;
    const QStringList cells = QString::fromUtf8(line).split('\t');
    if (table.columns.isEmpty()) {
      table.columns = cells;
    } else {
      table.rows.push_back(cells);
    }
  }
  return table;
}

QStringList cellsOf(const std::vector<std::string>& fields) {
  QStringList cells;
  for (const std::string& field : fields) cells += QString::fromStdString(field);
  return cells;
}

}  // namespace

int CsvTexts::guessTextColumn() const {
  const int column = named(*this, {"text", "sentence", "review", "content", "comment", "message", "body"});
  if (column >= 0) return column;
  int best = 0;
  for (int i = 1; i < columns.size(); ++i)
    if (averageLength(*this, i) > averageLength(*this, best)) best = i;
  return best;
}

int CsvTexts::guessLabelColumn() const {
  return named(*this, {"label", "class", "sentiment", "target", "category", "y"});
}

Result<CsvTexts> parseCsvTexts(const QByteArray& text, const QString& name) {
  CsvTexts table;
  if (isTabbed(text)) {
    table = parseTabs(text);
  } else {
    auto parsed = parse_csv(std::string_view(text.constData(), static_cast<size_t>(text.size())));
    if (!parsed.ok()) {
      Error error = std::move(parsed).error();
      error.where = name.toStdString() + (error.where.empty() ? "" : ", " + error.where);
      return error;
    }
    table.columns = cellsOf(parsed->header);
    for (const auto& row : parsed->rows) table.rows.push_back(cellsOf(row));
  }
  if (table.rows.empty())
    return Error{ErrorCode::corrupt_file, "The file holds no rows below its header", name.toStdString(),
                 "choose a CSV or TSV file with the columns' names first and then one text per row"};
  return table;
}

Result<CsvTexts> readCsvTexts(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    return Error{ErrorCode::io, file.errorString().toStdString(), path.toStdString(),
                 "check that the file is there and may be read"};
  if (file.size() > kLargest)
    return Error{ErrorCode::unsupported, "The file is larger than 256 MB", path.toStdString(),
                 "split it into smaller files"};
  return parseCsvTexts(file.readAll(), path);
}

}  // namespace orrery::ui
