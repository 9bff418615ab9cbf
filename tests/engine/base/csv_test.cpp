#include "engine/base/csv.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using Row = std::vector<std::string>;

CsvTable parsed(std::string_view text) {
  auto table = parse_csv(text);
  EXPECT_TRUE(table.ok()) << (table.ok() ? "" : table.error().to_string());
  return table.ok() ? *table : CsvTable{};
}

TEST(Csv, QuotesCommasAndLineBreaks) {
  const CsvTable table = parsed("a,b\r\n\"x, \"\"y\"\"\",\"two\r\nlines\"\r\n,\r\n");
  EXPECT_EQ(table.header, (Row{"a", "b"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0], (Row{"x, \"y\"", "two\r\nlines"}));
  EXPECT_EQ(table.rows[1], (Row{"", ""}));
  EXPECT_EQ(table.column("b"), 1U);
  EXPECT_EQ(table.column("c"), std::nullopt);
}

TEST(Csv, PlainLineEndsMarkAndMissingLastBreak) {
  const CsvTable table = parsed(
      "\xEF\xBB\xBF"
      "a,b\n\n1,2\n\n3,4");
  EXPECT_EQ(table.header[0], "a");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1], (Row{"3", "4"}));
}

TEST(Csv, OneColumnMayHoldEmptyFields) {
  const CsvTable table = parsed("a\n\"\"\nx\n");
  EXPECT_EQ(table.rows, (std::vector<Row>{{""}, {"x"}}));
}

TEST(Csv, RefusesWithTheLine) {
  const std::pair<const char*, const char*> cases[] = {{"a,b\n1\n", "CSV line 2"},
                                                       {"a,b\n1,2\n\"x", "CSV line 3"},
                                                       {"a,b\n\"1\"x,2\n", "CSV line 2"},
                                                       {"", "CSV line 1"},
                                                       {"a,b\n\"x\ny\",1\n1,2,3\n", "CSV line 4"}};
  for (const auto& [text, where] : cases) {
    const auto table = parse_csv(text);
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_EQ(table.error().where, where) << text;
  }
}

TEST(Csv, RecordsReadBack) {
  const std::vector<Row> rows = {{"h", "i"}, {"a,b", "c\"d"}, {"e\nf", ""}, {" g ", "\r"}, {"", ""}};
  std::string text;
  for (const Row& row : rows) text += csv_record(row);
  const CsvTable table = parsed(text);
  EXPECT_EQ(table.header, rows[0]);
  ASSERT_EQ(table.rows.size(), rows.size() - 1);
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_EQ(table.rows[i - 1], rows[i]);
  EXPECT_EQ(csv_record({"a", "b c"}), "a,b c\r\n");
  EXPECT_EQ(csv_record({""}), "\"\"\r\n");
}

}  // namespace
}  // namespace orrery
