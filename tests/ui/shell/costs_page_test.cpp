// The costs dock: a card for each edit and one for all, measured in the background.
#include <QDropEvent>
#include <QMimeData>
#include <QTest>

#include "support/window_fixture.h"
#include "ui/costs/costs_page.h"
#include "ui/frame/workspace.h"

namespace orrery::ui::testing {
namespace {

EditCost sampleCost() {
  EditCost cost;
  cost.name = "bypass layers.3";
  cost.edits = {{"bypass", {{"scope", "layers.3"}}}};
  api::MeasuredChange change;
  change.kl = 0.041;
  change.top1_agreement = 0.945;
  change.tokens = change.positions = 120;
  change.kl_by_position = {0.01F, 0.2F, 0.02F, 0.01F};
  change.nll_before = 3.0;
  change.nll_after = 3.05;
  change.tokens_per_second_before = 230;
  change.tokens_per_second_after = 237;
  change.memory = {{"cpu", "AVX2", {211'000'000, 0, 0, 0}, {208'000'000, 0, 0, 0}}};
  cost.change = change;
  return cost;
}

QStringList written(const std::vector<CostLine>& lines) {
  QStringList words;
  for (const CostLine& line : lines) words += QStringList{line.label, line.value, line.delta}.join("|");
  return words;
}

TEST(CostLines, HaveADeltaAgainstTheOriginal) {
  const std::vector<CostLine> lines = costLines(sampleCost(), true);
  const QStringList expected = {"speed|237 tok/s|+7.0", "memory|208 MB|\u22123.0 MB", "KL|0.041|",
                                "top-1|94.5 %|", "perplexity|21.1|+1.0"};
  EXPECT_EQ(written(lines).join('\n').toStdString(), expected.join('\n').toStdString());
  EXPECT_EQ(lines[0].token, Token::ok);
  EXPECT_EQ(lines[1].token, Token::ok);
  EXPECT_EQ(lines[4].token, Token::warn);
}

TEST(CostLines, AreDashesUntilTheyAreMeasured) {
  for (const CostLine& line : costLines({}, true))
    EXPECT_EQ(line.value, "\u2013") << line.label.toStdString();
  EXPECT_EQ(costLines({}, false).back().label, "cosine");
}

TEST(CostLines, SayWhyThereAreNone) {
  EditCost cost = sampleCost();
  EXPECT_EQ(costRefusal(cost), "");
  cost.refusal = Error{ErrorCode::not_found, "There is no layers.3@2", "", ""};
  EXPECT_EQ(costRefusal(cost), "cannot be made alone: There is no layers.3@2");
  cost.refusal->code = ErrorCode::out_of_memory;
  EXPECT_EQ(costRefusal(cost), "not measured: There is no layers.3@2");
}

TEST(CostsOf, AreTheStepsInForceAndAllTogether) {
  api::History history(fakeGraph(2));
  EXPECT_TRUE(costsOf(history).empty());
  const edit::Edit one{"bypass", {{"scope", "layers.0"}}}, two{"bypass", {{"scope", "layers.1"}}};
  history.add({{"bypass layers.0", "", false}, {{one}}, false, nullptr});
  history.add({{"bypass layers.1", "", false}, {{two}}, false, nullptr});
  ASSERT_EQ(costsOf(history).size(), 3U);
  EXPECT_EQ(costsOf(history)[1].edits, std::vector{two});
  EXPECT_TRUE(costsOf(history)[2].total);
  EXPECT_EQ(costsOf(history)[2].edits, (std::vector{one, two}));
  history.move_to(1, false);
  EXPECT_EQ(costsOf(history).size(), 2U) << "what is undone costs nothing";
  history.add({{"restore layers.0", "", false}, {{two}}, true, nullptr});
  ASSERT_EQ(costsOf(history).size(), 2U) << "what was made anew is all there is";
  EXPECT_EQ(costsOf(history)[0].edits, std::vector{two});
}

class CostsPageTest : public WindowTest {
 protected:
  void edit(const QString& scope) {
    window_->applyEdit("bypass", scope);
    ASSERT_TRUE(waitUntil([this] { return window_->session()->idle(); }));
  }
  bool measured(size_t cards) {
    return waitUntil([&] {
      const std::vector<CostCard*> all = page_->cards();
      return all.size() == cards && std::all_of(all.begin(), all.end(), [](const CostCard* card) {
               return card->cost().change.has_value();
             });
    });
  }
  void open(ThemeChoice theme) {
    window_ = makeWindow(theme);
    ASSERT_TRUE(opened(*window_, "chat"));
    page_ = window_->findChild<CostsPage*>();
  }

  std::unique_ptr<MainWindow> window_;
  CostsPage* page_ = nullptr;
};

TEST_F(CostsPageTest, EveryEditGetsACardAndAllOfThemOne) {
  for (const ThemeChoice theme : {ThemeChoice::light, ThemeChoice::dark}) {
    open(theme);
    edit("layers.1");
    window_->showPage("costs");
    ASSERT_TRUE(measured(2));
    edit("layers.2");
    ASSERT_TRUE(measured(3));
    EXPECT_EQ(page_->cards()[0]->text(), "Bypass layers.1");
    EXPECT_EQ(page_->cards()[2]->text(), "All 2 edits");
    EXPECT_EQ(page_->cards()[0]->lines()[2].value, "0.0021");
    EXPECT_TRUE(page_->words()->text().contains("120 tokens"));
    page_->cards()[0]->setCost(sampleCost(), 1, true, 0.3F);
    takePicture(*window_, theme == ThemeChoice::dark ? "costs-dark" : "costs-light");
    quit(*window_);
  }
}

TEST_F(CostsPageTest, TheProbeTextMayComeFromAFile) {
  open(ThemeChoice::dark);
  auto* costs = window_->findChild<EditCosts*>();
  const Banner* banner = window_->graphPage()->banner();
  page_->takeFile(writeFile(path("probe.txt"), "Once upon a time there was a gear.\n"));
  EXPECT_EQ(costs->text(), "Once upon a time there was a gear.");
  EXPECT_TRUE(page_->words()->text().contains("Once upon a time")) << page_->words()->text().toStdString();
  const std::pair<QByteArray, const char*> refused[] = {{QByteArray("\xff\xfe\x00", 3), "no text in UTF-8"},
                                                        {" \n", "empty"},
                                                        {QByteArray((1 << 20) + 1, 'a'), "longer than"}};
  for (const auto& [bytes, why] : refused) {
    page_->takeFile(writeFile(path("bad.txt"), bytes));
    EXPECT_TRUE(banner->isVisible() && (banner->title() + banner->body()).contains(why))
        << banner->title().toStdString() << banner->body().toStdString();
    EXPECT_EQ(costs->text(), "Once upon a time there was a gear.") << "the text stays";
  }
  QMimeData dragged;
  dragged.setUrls({QUrl::fromLocalFile(writeFile(path("dropped.txt"), "Another text."))});
  QDragEnterEvent enter(QPoint(9, 9), Qt::CopyAction, &dragged, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(page_, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(9, 9), Qt::CopyAction, &dragged, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(page_, &drop);
  EXPECT_TRUE(drop.isAccepted());
  EXPECT_EQ(costs->text(), "Another text.");
  page_->takeFile(path("none.txt"));
  EXPECT_TRUE(banner->title().contains("none.txt")) << banner->title().toStdString();
  quit(*window_);
}

TEST_F(CostsPageTest, NothingIsMeasuredWhileNobodyLooks) {
  open(ThemeChoice::dark);
  edit("layers.1");
  waitUntil([] { return false; }, 50);
  auto* costs = window_->findChild<EditCosts*>();
  ASSERT_EQ(costs->costs().size(), 2U);
  EXPECT_FALSE(costs->costs()[0].change.has_value());
  EXPECT_TRUE(page_->cards().empty());
  window_->showPage("costs");
  ASSERT_TRUE(measured(2));
  quit(*window_);
}

TEST_F(CostsPageTest, AClickChoosesWhatTheEditChanged) {
  open(ThemeChoice::dark);
  edit("layers.2");
  window_->showPage("costs");
  ASSERT_TRUE(measured(2));
  QString chosen;
  QObject::connect(&window_->work(), &Workspace::scopeChosen, &window_->work(),
                   [&](const QString& scope) { chosen = scope; });
  QTest::mouseClick(page_->cards()[0], Qt::LeftButton);
  EXPECT_EQ(chosen, "layers.2");
  EXPECT_FALSE(window_->graphPage()->fusedShown());
  quit(*window_);
}

TEST_F(CostsPageTest, AnotherTextMeasuresAnew) {
  open(ThemeChoice::dark);
  edit("layers.1");
  window_->showPage("costs");
  ASSERT_TRUE(measured(2));
  page_->change()->click();
  ASSERT_TRUE(page_->text()->isVisible());
  page_->text()->setPlainText("The sky is dark at night.");
  page_->change()->click();
  EXPECT_FALSE(page_->text()->isVisible());
  EXPECT_FALSE(page_->cards()[0]->cost().change.has_value());
  ASSERT_TRUE(measured(2));
  EXPECT_TRUE(page_->words()->text().contains("The sky is dark")) << page_->words()->text().toStdString();
  quit(*window_);
}

}  // namespace
}  // namespace orrery::ui::testing
