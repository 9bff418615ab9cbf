#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

TEST(Registry, EveryOpIsDescribedAndComplete) {
  std::set<std::string_view> names;
  for (const graph::OpPtr& op : registry()->all()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name << " is there twice";
    EXPECT_FALSE(op->doc.empty()) << op->name;
    EXPECT_TRUE(op->doc.ends_with('.')) << op->name;
    EXPECT_TRUE(op->infer) << op->name;
    for (const graph::AttributeSpec& spec : op->attributes) {
      EXPECT_FALSE(spec.doc.empty()) << op->name << "." << spec.name;
      EXPECT_TRUE(spec.fallback || spec.type != graph::AttributeType::any) << op->name << "." << spec.name;
    }
    const bool source = op->family == graph::OpFamily::source;
    EXPECT_EQ(op->lowering == nullptr, source || op->name == graph::kTransferOp) << op->name;
    EXPECT_EQ(!op->cost, source) << op->name;
    EXPECT_EQ(registry()->find(op->name), op);
    if (!op->lowering) continue;
    EXPECT_TRUE(op->lowering->lower) << op->name;
    EXPECT_FALSE(op->lowering->rows(kernels::DeviceKind::cpu).empty()) << op->name;
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
  for (const graph::OpPtr& op : registry()->all()) {
    const auto names_op = [&](const std::string& row) {
      return row.substr(0, row.find('|', 1)).find(fmt::format("`{}`", op->name)) != std::string::npos;
    };
    const auto row = std::find_if(rows.begin(), rows.end(), names_op);
    ASSERT_NE(row, rows.end()) << op->name;
    for (const graph::AttributeSpec& spec : op->attributes)
      EXPECT_NE(row->find(fmt::format("`{}`", spec.name)), std::string::npos) << op->name << "." << spec.name;
  }
}

}  // namespace
}  // namespace orrery::ops::test
