// A table of texts from a CSV or TSV file (RFC 4180: quoted fields may hold separators, line ends and doubled
// quotes).
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "engine/base/result.h"

namespace orrery::ui {

struct CsvTexts {
  QStringList columns;  // names; "column 1" ... where the first row does not look like a header
  std::vector<QStringList> rows;

  /// The likeliest column of texts, and of labels (-1: none).
  int guessTextColumn() const;
  int guessLabelColumn() const;
};

/// Errors name the file and the line.
Result<CsvTexts> readCsvTexts(const QString& path);
/// The separator is a tab where the first line holds one and no comma.
Result<CsvTexts> parseCsvTexts(const QString& text, const QString& name);
QString csvField(QString value);

}  // namespace orrery::ui
