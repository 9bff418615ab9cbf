// Two models beside each other in the window, on the real engine and the default model: what edits changed,
// and every node of a comparison patched.
#include "ui/diff/diff_page.h"

#include <QFile>
#include <QTest>

#include "engine/api/export.h"
#include "support/real_model_fixture.h"
#include "ui/compare/compare_page.h"
#include "ui/graph/graph_editor.h"

namespace orrery::ui::testing {
namespace {

class DiffPageTest : public RealModelTest {
 protected:
  void open(ThemeChoice theme = ThemeChoice::dark, const QString& model = "smollm2") {
    ASSERT_NO_FATAL_FAILURE(openAt("diff", theme, model));
    page_ = window_->findChild<DiffPage*>();
    ASSERT_TRUE(page_);
  }
  void edit(const std::string& words) {
    window_->session()->apply(edit::parse_edit(words).value());
    ASSERT_TRUE(waitUntil([&] { return !window_->session()->changing(); }, 60000));
  }
  bool ended() const {
    return waitUntil([&] { return !page_->diffs()->running(); }, 120000);
  }
  QString cell(int row, int column) const { return page_->shown()->index(row, column).data().toString(); }
  QStringList paths() const {
    QStringList all;
    for (int row = 0; row < page_->shown()->rowCount(); ++row) all += cell(row, DiffModel::nodeColumn);
    return all;
  }

  DiffPage* page_ = nullptr;
};

TEST_F(DiffPageTest, AnEditedModelIsComparedWithItselfAsItWasOpened) {
  ASSERT_NO_FATAL_FAILURE(open());
  QTest::mouseClick(page_->startButton(), Qt::LeftButton);
  EXPECT_EQ(page_->startButton()->text(), "Stop");
  ASSERT_TRUE(ended());
  EXPECT_EQ(page_->rows()->rowCount(), 0);
  EXPECT_TRUE(page_->summary().contains("0 added, 0 removed, 0 changed")) << page_->summary().toStdString();
  edit("quantise scope=layers.5.mlp.down_proj type=q8_0");
  edit("quantise scope=layers.9.mlp.up_proj type=q2_k");
  edit("quantise scope=layers.9.mlp.up_proj type=q5_0");
  edit("bypass scope=layers.20.attention");
  page_->timesBox()->setChecked(true);
  page_->startOrStop();
  ASSERT_TRUE(ended());
  ASSERT_TRUE(page_->diffs()->found());
  const int down = page_->rows()->rowAt("layers.5.mlp.down_proj");
  ASSERT_GE(down, 0) << "the weight stands at its reader";
  EXPECT_TRUE(page_->rows()->index(down, DiffModel::whatColumn).data().toString().contains("Q8_0"));
  EXPECT_FALSE(page_->rows()->index(down, DiffModel::distanceColumn).data().toString().isEmpty());
  EXPECT_FALSE(page_->rows()->index(down, DiffModel::aColumn).data().toString().isEmpty());
  EXPECT_GE(page_->rows()->rowAt("layers.20.attention.q_proj"), 0);
  EXPECT_GT(page_->rows()->count(DiffModel::Kind::removed), 5U);
  EXPECT_EQ(page_->rows()->count(DiffModel::Kind::added), 0U);
  EXPECT_EQ(view()->heatMode(), HeatMode::measure) << "the graph tells how far weights are apart";
}

TEST_F(DiffPageTest, RowsAreFilteredSortedWalkedAndSaved) {
  ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::light));
  edit("quantise scope=layers.4-8.mlp type=q4_0");
  edit("bypass scope=layers.20.attention");
  page_->startOrStop();
  ASSERT_TRUE(ended());
  const auto all = page_->shown()->rowCount();
  page_->kinds()->setFocus();
  QTest::keyClick(page_->kinds(), Qt::Key_Right);
  EXPECT_EQ(page_->shown()->rowCount(), 0) << "nothing was added";
  QTest::keyClick(page_->kinds(), Qt::Key_Right);
  EXPECT_EQ(page_->shown()->rowCount(), static_cast<int>(page_->rows()->count(DiffModel::Kind::removed)));
  QTest::keyClick(page_->kinds(), Qt::Key_Left);
  QTest::keyClick(page_->kinds(), Qt::Key_Left);
  EXPECT_EQ(page_->shown()->rowCount(), all);
  page_->field()->setText("down_proj");
  EXPECT_EQ(page_->shown()->rowCount(), 5);
  page_->table()->sortByColumn(DiffModel::distanceColumn, Qt::DescendingOrder);
  for (int row = 1; row < 5; ++row)
    EXPECT_GE(page_->shown()->index(row - 1, DiffModel::distanceColumn).data(DiffModel::kSortRole).toDouble(),
              page_->shown()->index(row, DiffModel::distanceColumn).data(DiffModel::kSortRole).toDouble());
  EXPECT_EQ(page_->shown()->index(0, DiffModel::distanceColumn).data(DiffModel::kHeatRole).toDouble(), 1);
  view()->waitForLayout();
  QTest::keyClick(window_.get(), Qt::Key_F8);
  EXPECT_EQ(page_->table()->currentIndex().row(), 0);
  EXPECT_TRUE(waitUntil([&] { return view()->selection().size() == 1; }, 10000)) << "the graph goes there";
  QTest::keyClick(window_.get(), Qt::Key_F8);
  EXPECT_EQ(page_->table()->currentIndex().row(), 1);
  QTest::keyClick(window_.get(), Qt::Key_F8, Qt::ShiftModifier);
  QTest::keyClick(window_.get(), Qt::Key_F8, Qt::ShiftModifier);
  EXPECT_EQ(page_->table()->currentIndex().row(), 4) << "around the end";
  ASSERT_TRUE(page_->save(path("diff.csv")).ok());
  QFile csv(path("diff.csv"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  EXPECT_EQ(csv.readAll().count('\n'), all + 1);
  EXPECT_FALSE(page_->save(path("no/such/folder.csv")).ok());
  page_->field()->clear();
  waitUntil([] { return false; }, 300);
  takePicture(*window_, "diff-light");
}

TEST_F(DiffPageTest, AnotherFileIsComparedAndAMissingOneSaysSo) {
  ASSERT_NO_FATAL_FAILURE(open());
  edit("quantise scope=layers.*.mlp.up_proj type=q8_0");
  api::ExportOptions options;
  const auto written =
      api::export_model(*window_->session()->session(), path("other.gguf").toStdString(), options, {}, {});
  ASSERT_TRUE(written.ok()) << written.error().to_string();
  window_->session()->undo();
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->changing(); }, 60000));
  page_->compareWith(path("other.gguf"));
  ASSERT_TRUE(ended());
  ASSERT_TRUE(page_->diffs()->found()) << page_->banner()->body().toStdString();
  EXPECT_EQ(page_->rows()->rowCount(), 30) << paths().join(' ').toStdString();
  EXPECT_TRUE(page_->summary().startsWith("other.gguf")) << page_->summary().toStdString();
  const GraphEditor* editor = window_->graphPage()->modelView()->editor();
  const NodeId up = window_->session()->session()->model_graph()->find_path("layers.3.mlp.up_proj");
  EXPECT_TRUE(editor->changeWords()->empty()) << "nothing is edited";
  window_->graphPage()->setDiffShown(true);
  EXPECT_EQ(editor->changeWords()->size(), 30U) << "the other file's types, on the drawn graph";
  ASSERT_TRUE(editor->changeWords()->contains(up));
  EXPECT_TRUE(editor->changeWords()->at(up).endsWith(", there Q8_0"))
      << editor->changeWords()->at(up).toStdString();
  view()->waitForLayout();
  takePicture(*window_, "diff-file");
  page_->compareWith(path("no.gguf"));
  ASSERT_TRUE(ended());
  EXPECT_FALSE(page_->diffs()->found());
  EXPECT_TRUE(editor->changeWords()->empty()) << "with the model as it was opened again";
  EXPECT_EQ(page_->banner()->kind(), Banner::Kind::error);
  EXPECT_TRUE(page_->startButton()->isEnabled());
}

TEST_F(DiffPageTest, WhatRunsIsStopped) {
  ASSERT_NO_FATAL_FAILURE(open());
  edit("quantise scope=layers.* type=q4_0");
  page_->startOrStop();
  page_->startOrStop();
  ASSERT_TRUE(ended());
  EXPECT_FALSE(page_->diffs()->found());
  EXPECT_EQ(page_->startButton()->text(), "Compare");
}

/// Compares the file with itself as q4_0, every node of it patched.
class PatchedNodesTest : public DiffPageTest {
 protected:
  void patch() {
    ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::dark, firstLayers(4)));
    window_->showPage("compare");
    ComparePage* page = window_->comparePage();
    for (size_t i = 0; i < page->settings().size(); ++i)
      if (page->settings()[i].title.contains("q4_0", Qt::CaseInsensitive))
        page->choose(api::Side::b, static_cast<int>(i));
    EXPECT_FALSE(page->everyNodeBox()->isVisible());
    page->patchBox()->setChecked(true);
    EXPECT_TRUE(page->everyNodeBox()->isVisible());
    page->everyNodeBox()->setChecked(true);
    page->field()->setText("The capital of France is");
    page->compare();
    ASSERT_TRUE(waitUntil([&] { return !page->controller()->running(); }, 240000));
    ASSERT_TRUE(page->result()) << page->banner()->body().toStdString();
    EXPECT_FALSE(page->result()->patched_stream);
    size_t told = 0;
    for (const api::NodeComparison& node : page->result()->nodes) told += node.gone.has_value();
    EXPECT_GT(told, 60U);
    for (int row = 1; row < static_cast<int>(told); ++row)
      EXPECT_GE(*page->nodes()->at(row - 1).gone, *page->nodes()->at(row).gone) << "the largest first";
    view()->waitForLayout();
    EXPECT_EQ(view()->heatMode(), HeatMode::measure);
  }
};

TEST_F(PatchedNodesTest, AreListedByWhatGoesAwayAndColourTheGraph) {
  ASSERT_NO_FATAL_FAILURE(patch());
  for (const auto& [theme, picture] : {std::pair(ThemeChoice::dark, "patch-nodes-dark"),
                                       std::pair(ThemeChoice::light, "patch-nodes-light")}) {
    window_->setThemeChoice(theme);
    waitUntil([] { return false; }, 300);
    takePicture(*window_, picture);
  }
}

}  // namespace
}  // namespace orrery::ui::testing
