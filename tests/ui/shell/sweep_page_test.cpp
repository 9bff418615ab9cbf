// Sweeps in the window, on the real engine and the default model: rows come while the chat can go on, a stop
// keeps them, row, point and graph are one choice, and a mix is predicted, measured and made.
#include "ui/sweep/sweep_page.h"

#include <QFile>
#include <QTest>
#include <numeric>

#include "support/real_model_fixture.h"

namespace orrery::ui::testing {
namespace {

class SweepPageTest : public RealModelTest {
 protected:
  void open(ThemeChoice theme = ThemeChoice::dark, const QString& model = "smollm2") {
    ASSERT_NO_FATAL_FAILURE(openAt("sweep", theme, model));
    page_ = window_->findChild<SweepPage*>();
    ASSERT_TRUE(page_);
    page_->field()->setText("The capital of France is Paris.");
  }
  SweepController& sweeps() const { return *page_->sweeps(); }
  bool rows(size_t count) const {
    return waitUntil([&] { return sweeps().sweep().rows.size() >= count; }, 60000);
  }
  bool ended() const {
    return waitUntil([&] { return !sweeps().running() && !sweeps().measuring(); }, 120000);
  }
  QString cell(int row, int column) const { return page_->rows()->index(row, column).data().toString(); }

  SweepPage* page_ = nullptr;
};

TEST_F(SweepPageTest, RowsComeAreStoppedAndGoneOnWith) {
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_FALSE(page_->resumeButton()->isEnabled());
  QTest::mouseClick(page_->startButton(), Qt::LeftButton);
  EXPECT_EQ(page_->startButton()->text(), "Stop");
  EXPECT_EQ(page_->rows()->rowCount(), 30) << "those that wait are shown as well";
  ASSERT_TRUE(rows(4));
  window_->chatPage()->send("Hello");
  QTest::mouseClick(page_->startButton(), Qt::LeftButton);
  ASSERT_TRUE(ended());
  const size_t stopped = sweeps().sweep().rows.size();
  EXPECT_GE(stopped, 4U);
  EXPECT_LT(stopped, 30U) << "stopped";
  EXPECT_TRUE(page_->resumeButton()->isEnabled());
  EXPECT_EQ(page_->progressWords(), QString("%1 of 30").arg(stopped));
  const std::vector<api::SweepRow> kept = sweeps().sweep().rows;
  QTest::mouseClick(page_->resumeButton(), Qt::LeftButton);
  ASSERT_TRUE(rows(30));
  ASSERT_TRUE(ended());
  EXPECT_EQ(sweeps().sweep().rows[1].change.kl, kept[1].change.kl) << "rows stay as they were";
  EXPECT_TRUE(waitUntil([&] { return !window_->session()->running(); }, 60000));
  EXPECT_GT(window_->chatPage()->transcript()->message(1).text().size(), 0) << "the chat went on";
  EXPECT_TRUE(window_->session()->recipe().empty()) << "nothing of it is adopted";
  for (int row = 1; row < 30; ++row)
    EXPECT_LE(sweeps().sweep().rows[page_->rows()->placeAt(row - 1)].change.kl,
              sweeps().sweep().rows[page_->rows()->placeAt(row)].change.kl)
        << "the least changed first";
}

TEST_F(SweepPageTest, RowPointAndGraphAreOneChoice) {
  ASSERT_NO_FATAL_FAILURE(open());
  page_->startOrStop();
  ASSERT_TRUE(rows(30));
  ASSERT_TRUE(ended());
  view()->waitForLayout();
  EXPECT_EQ(view()->heatMode(), HeatMode::measure);
  page_->table()->setFocus();
  page_->table()->selectRow(0);
  const auto first = static_cast<int>(page_->rows()->placeAt(0));
  EXPECT_EQ(page_->plot()->chosen(), first);
  ASSERT_EQ(view()->selection().size(), 1U);
  EXPECT_EQ(view()->selection()[0].scope, QString("layers.%1").arg(first));
  QTest::keyClick(page_->table(), Qt::Key_Down);
  EXPECT_EQ(view()->selection()[0].scope, page_->rows()->scopeAt(1));
  emit page_->plot()->placeChosen(7);
  EXPECT_EQ(view()->selection()[0].scope, "layers.7");
  EXPECT_EQ(page_->rows()->scopeAt(page_->table()->currentIndex().row()), "layers.7");
  view()->selectScope("layers.21");
  emit window_->graphPage()->scopeChosen("layers.21", false);
  EXPECT_EQ(page_->plot()->chosen(), 21);
  EXPECT_EQ(page_->rows()->scopeAt(page_->table()->currentIndex().row()), "layers.21");
  const auto values = page_->plot()->points();
  ASSERT_EQ(values.size(), 30U);
  EXPECT_EQ(values[3], *sweeps().sweep().rows[3].change.kl);
  EXPECT_EQ(page_->rows()->index(29, SweepModel::distanceColumn).data(SweepModel::kHeatRole).toDouble(), 1);
  waitUntil([] { return false; }, 300);
  takePicture(*window_, "sweep-dark");
}

TEST_F(SweepPageTest, SavesWhatItShows) {
  ASSERT_NO_FATAL_FAILURE(open());
  page_->startOrStop();
  ASSERT_TRUE(rows(3));
  page_->startOrStop();
  ASSERT_TRUE(ended());
  const size_t rows = sweeps().sweep().rows.size();
  ASSERT_TRUE(page_->save(path("sweep.csv")).ok());
  ASSERT_TRUE(page_->save(path("sweep.json")).ok());
  QFile csv(path("sweep.csv")), json(path("sweep.json"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly) && json.open(QIODevice::ReadOnly));
  EXPECT_EQ(csv.readAll().count('\n'), static_cast<qsizetype>(rows) + 1);
  const auto read = api::parse_sweep(json.readAll().toStdString());
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->rows.size(), rows);
  EXPECT_FALSE(page_->save(path("no/such/folder.csv")).ok());
}

TEST_F(SweepPageTest, AMixIsPredictedMeasuredAndMade) {
  ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::light, firstLayers(8)));
  EXPECT_FALSE(page_->mix()->slider()->isVisible()) << "there is nothing to choose from";
  page_->startOrStop();
  ASSERT_TRUE(rows(8));
  ASSERT_TRUE(ended());
  page_->chooseKind(api::SweepKind::quantise_tensors);
  page_->chooseTo("q4_0");
  page_->startOrStop();
  ASSERT_TRUE(rows(8 * 7 + 1));
  ASSERT_TRUE(ended());
  MixPanel* mix = page_->mix();
  if (page_->side()->isVisible()) {
    page_->side()->setFocus();
    QTest::keyClick(page_->side(), Qt::Key_Right);
  }
  ASSERT_TRUE(mix->slider()->isVisible());
  EXPECT_TRUE(mix->words().contains("predicted KL")) << mix->words().toStdString();
  const uint64_t before = mix->slider()->bytes();
  mix->slider()->setFocus();
  QTest::keyClick(mix->slider(), Qt::Key_PageDown);
  EXPECT_LT(mix->slider()->bytes(), before);
  QTest::mouseClick(mix->measureButton(), Qt::LeftButton);
  ASSERT_TRUE(ended());
  EXPECT_TRUE(waitUntil([&] { return mix->words().contains("measured KL"); })) << mix->words().toStdString();
  waitUntil([] { return false; }, 300);
  takePicture(*window_, "sweep-light");
  window_->dock("latency")->close();
  EXPECT_TRUE(waitUntil([&] { return page_->plot()->isVisible() && mix->isVisible(); }))
      << "where there is room, the chart stands beside the mix";
  EXPECT_FALSE(page_->side()->isVisible());
  waitUntil([] { return false; }, 300);
  takePicture(*window_, "sweep-wide-light");
  const BitCounts& bars = mix->bars()->counts();
  ASSERT_EQ(bars.rows.size(), 8U) << "seven matrices of a layer, and the embedding";
  EXPECT_EQ(bars.rows[1].name, "q_proj");
  for (const BitCounts::Row& row : bars.rows)
    EXPECT_EQ(std::accumulate(row.counts.begin(), row.counts.end(), 0), row.name == "token_embedding" ? 1 : 8)
        << row.name.toStdString();
  std::vector<edit::Edit> kept;
  page_->disconnect(SIGNAL(recipeAsked(std::vector<orrery::edit::Edit>)));  // the window asks for a name
  QObject::connect(page_, &SweepPage::recipeAsked, page_,
                   [&](const std::vector<edit::Edit>& edits) { kept = edits; });
  QTest::mouseClick(mix->recipeButton(), Qt::LeftButton);
  EXPECT_FALSE(window_->session()->canUndo()) << "to save a mix does not make it";
  QTest::mouseClick(mix->makeButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([&] { return window_->session()->canUndo(); }, 60000))
      << window_->graphPage()->banner()->body().toStdString();
  ASSERT_EQ(window_->session()->recipe().size(), 1U);
  EXPECT_EQ(window_->session()->recipe()[0].op, "quantise");
  EXPECT_EQ(window_->session()->recipe(), kept) << "the recipe is what is made";
  EXPECT_TRUE(window_->session()->undoName().startsWith("mix "))
      << window_->session()->undoName().toStdString();
  EXPECT_TRUE(waitUntil([&] { return !mix->makeButton()->isEnabled(); }))
      << "the sweeps are of the model before";
  window_->action("edit.undo")->trigger();
  EXPECT_TRUE(waitUntil([&] { return mix->makeButton()->isEnabled(); }, 60000));
}

TEST_F(SweepPageTest, TheCheapestAreMadeAsOneStep) {
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_FALSE(page_->cheapest()->isVisible());
  page_->startOrStop();
  ASSERT_TRUE(rows(2));
  EXPECT_FALSE(page_->cheapest()->button()->isEnabled()) << "two are not three";
  ASSERT_TRUE(rows(30));
  ASSERT_TRUE(ended());
  Button* make = page_->cheapest()->button();
  EXPECT_EQ(make->text(), "Bypass the 3 cheapest");
  page_->cheapest()->number()->setValue(2);
  EXPECT_EQ(make->text(), "Bypass the 2 cheapest");
  const std::string cheapest = page_->rows()->scopeAt(0).toStdString(),
                    second = page_->rows()->scopeAt(1).toStdString();
  QTest::mouseClick(make, Qt::LeftButton);
  ASSERT_TRUE(waitUntil([&] { return window_->session()->canUndo(); }, 60000));
  EXPECT_EQ(window_->session()->undoName(), "bypass the 2 cheapest");
  const auto recipe = window_->session()->recipe();
  ASSERT_EQ(recipe.size(), 2U);
  EXPECT_EQ(recipe[0].to_string(), "bypass scope=" + cheapest);
  EXPECT_EQ(recipe[1].to_string(), "bypass scope=" + second);
  EXPECT_TRUE(waitUntil([&] { return !make->isEnabled(); })) << "the rows are of the model before";
  waitUntil([] { return false; }, 300);
  takePicture(*window_, "sweep-cheapest-dark");
  window_->action("edit.undo")->trigger();
  ASSERT_TRUE(waitUntil([&] { return make->isEnabled(); }, 60000)) << "one step back";
  page_->table()->setFocus();
  page_->table()->selectRow(4);
  const std::string fifth = page_->rows()->scopeAt(4).toStdString();
  QTest::keyClick(page_->table(), Qt::Key_Return);
  ASSERT_TRUE(waitUntil([&] { return window_->session()->canUndo(); }, 60000));
  ASSERT_EQ(window_->session()->recipe().size(), 1U);
  EXPECT_EQ(window_->session()->recipe()[0].to_string(), "bypass scope=" + fifth);
}

TEST_F(SweepPageTest, AnotherModelForgetsTheRows) {
  ASSERT_NO_FATAL_FAILURE(open());
  page_->startOrStop();
  ASSERT_TRUE(rows(2));
  ASSERT_TRUE(opened(*window_, "smollm2")) << "another session of it";
  EXPECT_FALSE(sweeps().running());
  EXPECT_EQ(page_->rows()->rowCount(), 0);
  EXPECT_NE(view()->heatMode(), HeatMode::measure);
}

/// The whole model in a smaller type against itself: Compare says which layers make the difference.
TEST_F(SweepPageTest, CompareShowsWhichPartsMakeTheDifference) {
  Services services = realServices();
  services.compare = api::compare;
  window_ = makeWindow(services, ThemeChoice::dark);
  ASSERT_TRUE(opened(*window_, firstLayers(5)));
  window_->graphPage()->showTab(false);
  window_->showPage("compare");
  ComparePage* page = window_->comparePage();
  for (size_t i = 0; i < page->settings().size(); ++i)
    if (page->settings()[i].title == "CPU, as Q4_0") page->choose(api::Side::b, static_cast<int>(i));
  ASSERT_EQ(page->settingTitle(api::Side::b), "CPU, as Q4_0");
  page->patchBox()->setChecked(true);
  page->field()->setText("Why do planets move?");
  page->compare();
  ASSERT_TRUE(waitUntil([&] { return page->result() != nullptr; }, 120000))
      << page->banner()->body().toStdString();
  ASSERT_TRUE(page->result()->patched_kl);
  EXPECT_GT(*page->result()->patched_kl, 0);
  EXPECT_EQ(view()->heatMode(), HeatMode::measure);
  const ScopeValues parts = partsOf(*page->result());
  EXPECT_EQ(parts.title(), "Share of the difference");
  EXPECT_TRUE(parts.of("layers.4.mlp.down_proj"));
  QString told;
  for (int row = 0; row < page->nodes()->rowCount(); ++row)
    if (page->nodes()->pathAt(row) == "layers.4.mlp.residual")
      told = page->nodes()->index(row, CompareNodesModel::goneColumn).data().toString();
  EXPECT_EQ(page->nodes()->pathAt(0), "embed.token_embedding") << "the stream first, in its order";
  EXPECT_EQ(page->nodes()->pathAt(1), "layers.0.attention.residual");
  EXPECT_TRUE(told.endsWith("%")) << told.toStdString();
  waitUntil([] { return false; }, 300);
  takePicture(*window_, "patch-dark");
  page->patchBox()->setChecked(false);
  page->compare();
  ASSERT_TRUE(waitUntil([&] { return page->result() && !page->controller()->running(); }, 120000));
  EXPECT_FALSE(page->result()->patched_kl);
  EXPECT_NE(view()->heatMode(), HeatMode::measure) << "what was told of parts went with its run";
}

}  // namespace
}  // namespace orrery::ui::testing
