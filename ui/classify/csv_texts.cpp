#include "ui/classify/csv_texts.h"

#include <QFile>

namespace orrery::ui {
namespace {

constexpr qint64 kLargest = 256LL << 20;  // bytes
constexpr qsizetype kSample = 50;         // rows looked at to tell texts from labels

struct Cursor {
  const QString& text;
  qsizetype at = 0;
  int line = 1;
  bool atEnd() const { return at >= text.size(); }
};

/// One field, and whether the row ends after it. Nothing when a quote stays open.
bool readField(Cursor& cursor, QChar separator, QString& field, bool& rowEnds) {
  field.clear();
  bool quoted = !cursor.atEnd() && cursor.text[cursor.at] == '"';
  if (quoted) {
    ++cursor.at;
    for (;; ++cursor.at) {
      if (cursor.atEnd()) return false;
      const QChar c = cursor.text[cursor.at];
      if (c == '\n') ++cursor.line;
      if (c == '"') {
        ++cursor.at;
        if (cursor.atEnd() || cursor.text[cursor.at] != '"') break;
      }
      field += cursor.text[cursor.at];
    }
  }
  while (!cursor.atEnd() && cursor.text[cursor.at] != separator && cursor.text[cursor.at] != '\n')
    field += cursor.text[cursor.at++];
  rowEnds = cursor.atEnd() || cursor.text[cursor.at] == '\n';
  if (!cursor.atEnd()) {
    if (rowEnds) ++cursor.line;
    ++cursor.at;
  }
  if (rowEnds && field.endsWith('\r')) field.chop(1);
  return true;
}

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

const QStringList kTextNames = {"text", "sentence", "review", "content", "comment", "message", "body"};
const QStringList kLabelNames = {"label", "class", "sentiment", "target", "category", "y"};

}  // namespace

int CsvTexts::guessTextColumn() const {
  if (const int column = named(*this, kTextNames); column >= 0) return column;
  int best = 0;
  for (int i = 1; i < columns.size(); ++i)
    if (averageLength(*this, i) > averageLength(*this, best)) best = i;
  return best;
}

int CsvTexts::guessLabelColumn() const { return named(*this, kLabelNames); }

Result<CsvTexts> parseCsvTexts(const QString& text, const QString& name) {
  const QString first = text.left(text.indexOf('\n'));
  const QChar separator = first.contains('\t') && !first.contains(',') ? '\t' : ',';
  CsvTexts table;
  Cursor cursor{text};
  while (!cursor.atEnd()) {
    const int line = cursor.line;
    QStringList row;
    QString field;
    for (bool rowEnds = false; !rowEnds;) {
      if (!readField(cursor, separator, field, rowEnds))
        return Error{ErrorCode::corrupt_file, "A quoted field has no end",
                     QString("%1, line %2").arg(name).arg(line).toStdString(),
                     "close the quotation mark, or double those inside the field"};
      row += field;
    }
    if (row.size() > 1 || !row.first().trimmed().isEmpty()) table.rows.push_back(std::move(row));
  }
  if (table.rows.empty())
    return Error{ErrorCode::corrupt_file, "The file holds no rows", name.toStdString(),
                 "choose a CSV or TSV file with one text a row"};
  const QStringList& head = table.rows.front();
  bool header = false;
  for (const QString& cell : head)
    header = header || kTextNames.contains(cell.trimmed(), Qt::CaseInsensitive) ||
             kLabelNames.contains(cell.trimmed(), Qt::CaseInsensitive);
  if (header) {
    table.columns = head;
    table.rows.erase(table.rows.begin());
  } else {
    for (qsizetype i = 0; i < head.size(); ++i) table.columns += QString("column %1").arg(i + 1);
  }
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
  QString text = QString::fromUtf8(file.readAll());
  if (text.startsWith(QChar(0xFEFF))) text.remove(0, 1);
  return parseCsvTexts(text, path);
}

QString csvField(QString value) {
  if (!value.contains(',') && !value.contains('"') && !value.contains('\n') && !value.contains('\r'))
    return value;
  return '"' + value.replace('"', "\"\"") + '"';
}

}  // namespace orrery::ui
