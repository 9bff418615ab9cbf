#include "ui/classify/csv_texts.h"

#include <gtest/gtest.h>

namespace orrery::ui {
namespace {

TEST(CsvTexts, QuotedFieldsHoldSeparatorsLineEndsAndQuotes) {
  const auto table =
      parseCsvTexts("text,label\r\n\"a, \"\"b\"\"\nc\",positive\r\nplain,negative\r\n", "t.csv");
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->columns, QStringList({"text", "label"}));
  EXPECT_EQ(table->rows[0], QStringList({"a, \"b\"\nc", "positive"}));
  EXPECT_EQ(table->rows[1], QStringList({"plain", "negative"}));
}

TEST(CsvTexts, TabsWhereNoCommaIs) {
  const auto table = parseCsvTexts("review\tsentiment\nfine film\t1\n", "t.tsv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->guessTextColumn(), 0);
  EXPECT_EQ(table->guessLabelColumn(), 1);
}

TEST(CsvTexts, TheLongestColumnIsTheTextWhereNoNameTells) {
  const auto table = parseCsvTexts("intent,utterance\nask,a long sentence about a film\n", "t.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->guessTextColumn(), 1);
  EXPECT_EQ(table->guessLabelColumn(), -1);
}

TEST(CsvTexts, AnOpenQuoteIsRefusedWithItsLine) {
  const auto table = parseCsvTexts("text\nfine\n\"never closed\nmore", "bad.csv");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(table.error().where.find("bad.csv, CSV line 3"), std::string::npos) << table.error().where;
}

TEST(CsvTexts, EmptyAndMissingFilesAreRefused) {
  EXPECT_FALSE(parseCsvTexts("\n\n", "empty.csv").ok());
  EXPECT_FALSE(parseCsvTexts("text,label\n", "header.csv").ok());
  EXPECT_FALSE(readCsvTexts("/nowhere/at/all.csv").ok());
}

}  // namespace
}  // namespace orrery::ui
