#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

TEST(Registry, EveryOpIsDescribedAndComplete) {
  std::set<std::string_view> names;
  for (const Op& op : all_ops()) {
    EXPECT_TRUE(names.insert(op.schema->name).second) << op.schema->name << " is there twice";
    EXPECT_FALSE(op.schema->doc.empty()) << op.schema->name;
    EXPECT_TRUE(op.schema->doc.ends_with('.')) << op.schema->name;
    EXPECT_NE(op.schema->infer, nullptr) << op.schema->name;
    for (const graph::AttributeSpec& spec : op.schema->attributes) {
      EXPECT_FALSE(spec.doc.empty()) << op.schema->name << "." << spec.name;
      EXPECT_TRUE(spec.fallback || spec.type != graph::AttributeType::any)
          << op.schema->name << "." << spec.name;
    }
    const bool source = op.schema->family == graph::OpFamily::source;
    EXPECT_EQ(op.lower == nullptr, source || op.schema->name == graph::kTransferOp) << op.schema->name;
    EXPECT_EQ(op.schema->cost == nullptr, source) << op.schema->name;
    EXPECT_EQ(registry()->find(op.schema->name), op.schema);
    EXPECT_EQ(lowering_of(*op.schema), op.lower);
  }
  EXPECT_EQ(registry()->find("no such op"), nullptr);
  EXPECT_EQ(registry(), registry()) << "one instance";
}

TEST(Registry, TheTableOfOpsNamesEveryOpInputAndAttribute) {
  std::ifstream file(ORRERY_SOURCE_DIR "/engine/ops/README.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| `")) rows.push_back(line);
  ASSERT_FALSE(rows.empty());
  for (const Op& op : all_ops()) {
    const auto names_op = [&](const std::string& row) {
      return row.substr(0, row.find('|', 1)).find(fmt::format("`{}`", op.schema->name)) != std::string::npos;
    };
    const auto row = std::find_if(rows.begin(), rows.end(), names_op);
    ASSERT_NE(row, rows.end()) << op.schema->name;
    for (const graph::AttributeSpec& spec : op.schema->attributes)
      EXPECT_NE(row->find(fmt::format("`{}`", spec.name)), std::string::npos)
          << op.schema->name << "." << spec.name;
  }
}

}  // namespace
}  // namespace orrery::ops::test
