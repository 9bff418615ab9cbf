// A table of texts from a CSV file (engine/base/csv.h), or from a TSV file: one row per line, fields parted
// by tabs.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "engine/base/csv.h"

namespace orrery::ui {

struct CsvTexts {
  QStringList columns;  // the names in the first row
  std::vector<QStringList> rows;

  /// The likeliest column of texts, and of labels (-1: none).
  int guessTextColumn() const;
  int guessLabelColumn() const;
};

/// Errors name the file and the line.
Result<CsvTexts> readCsvTexts(const QString& path);
Result<CsvTexts> parseCsvTexts(const QByteArray& text, const QString& name);

}  // namespace orrery::ui
