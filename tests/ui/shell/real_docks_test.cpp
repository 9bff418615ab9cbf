// The docks of editing on the real engine: what is foretold, what it costs, what the model says then.
#include <QApplication>
#include <QElapsedTimer>
#include <QMenu>
#include <QTimer>
#include <cstdio>

#include "engine/models/builder.h"
#include "support/editing_fixture.h"
#include "tests/engine/models/fake_files.h"
#include "ui/change/change_page.h"
#include "ui/costs/costs_page.h"
#include "ui/frame/workspace.h"
#include "ui/history/history_page.h"
#include "ui/inspector/edit_form.h"
#include "ui/replies/replies_page.h"
#include "ui/theme/format.h"

namespace orrery::ui::testing {
namespace {

using Side = ReplyPair::Side;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr double kTold = 400;  // milliseconds; what is instrumented
#else
constexpr double kTold = 20;
#endif

/// 162 layers, of which everything but the graph is made up; its previews take until they are stopped.
class LargeSession : public FakeSession {
 public:
  LargeSession() : FakeSession(api::OpenOptions(), FakePlan()) {
    auto built = models::build(models::test::fake_llama(162), nullptr);
    if (!built.ok()) throw std::runtime_error(built.error().to_string());
    const auto graph = std::make_shared<const graph::Graph>(std::move(built->graph));
    large_ = std::make_shared<const api::SessionState>(
        api::SessionState{graph, graph, nullptr, true, api::History(graph)});
  }
  api::SessionStatePtr state() const override { return large_; }
  Result<api::Preview> preview(const std::vector<edit::Edit>&, std::stop_token stop) const override {
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // what no stop interrupts
    return cancelled_error();
  }

 private:
  api::SessionStatePtr large_;
};

TEST(EditPreviewsTest, AnIllegalEditOfALargeModelIsToldAtOnce) {
  const auto session = std::make_shared<LargeSession>();
  EditPreviews previews(realServices());
  for (const char* words :
       {"bypass scope=layers.100.mlp.gate",
        "connect input=layers.7.mlp.residual.b value=layers.7.mlp.gate:dst",
        "delete scope=layers.80.attention.k_proj", "set node=layers.80.mlp.norm attribute=groups value=7"}) {
    double least = 1e9;
    for (int i = 0; i < 5; ++i) {
      previews.ask(session, {{"bypass", {{"scope", "layers.3"}}}});  // is being prepared meanwhile
      waitUntil([] { return false; }, 20);
      QElapsedTimer clock;
      clock.start();
      previews.ask(session, {*edit::parse_edit(words)});
      while (!previews.preview() && clock.elapsed() < 5000) QApplication::processEvents();
      least = std::min(least, static_cast<double>(clock.nsecsElapsed()) * 1e-6);
      ASSERT_TRUE(previews.preview());
      ASSERT_EQ(previews.preview()->refusals.size(), 1U) << words;
    }
    std::printf("  %6.2f ms  %s\n", least, words);
    EXPECT_LT(least, kTold) << words;
  }
}

TEST(FormVerbs, AreThoseOfTheSchemaForTheChosenNode) {
  const graph::GraphVersion model = LargeSession().model_graph();
  const NodeId sdpa = model->find_path("layers.3.attention.sdpa");
  ASSERT_TRUE(sdpa.valid());
  const std::vector<FormVerb> verbs = formVerbs(*model, sdpa);
  ASSERT_GT(verbs.size(), 4U);
  EXPECT_EQ(verbs[0].name, "attention");
  EXPECT_EQ(verbs[1].name, "set");
  const auto field = [&](const FormVerb& verb, const QString& name) {
    return *std::find_if(verb.fields.begin(), verb.fields.end(),
                         [&](const FormField& one) { return one.name == name; });
  };
  const FormField kind = field(verbs[0], "kind"), p = field(verbs[0], "p"), heads = field(verbs[0], "heads");
  EXPECT_EQ(kind.choices, (QStringList{"softmax", "fastmax"}));
  EXPECT_EQ(kind.before, "softmax") << "as the node is";
  EXPECT_EQ(p.range, QString("1 \u2026 2"));
  EXPECT_EQ(p.reason("2"), "");
  EXPECT_EQ(p.reason("3"), "it is from 1 to 2");
  EXPECT_EQ(heads.heads, 4);
  EXPECT_EQ(field(verbs[1], "window").reason("many"), "it is to be a whole number");
  const std::vector<edit::Edit> edits =
      editsOf(verbs[0], "layers.3.attention.sdpa", {{"kind", "fastmax"}, {"p", "1"}, {"window", "0"}});
  ASSERT_EQ(edits.size(), 1U);
  EXPECT_EQ(edits[0].to_string(), "attention kind=fastmax p=1 scope=layers.3.attention.sdpa")
      << "what is as it was is not said";
  EXPECT_TRUE(editsOf(verbs[0], "layers.3", {}).empty());
  EXPECT_EQ(editsOf(verbs[1], "layers.3.attention.sdpa", {{"window", "8"}, {"scale", "0.5"}}).size(), 2U)
      << "each attribute is an edit";
  const std::vector<FormVerb> ofScope = formVerbs(*model, {});
  const auto erase = std::find_if(ofScope.begin(), ofScope.end(),
                                  [](const FormVerb& verb) { return verb.name == "delete"; });
  ASSERT_NE(erase, ofScope.end());
  EXPECT_EQ(editsOf(*erase, "layers.3", {}).front().to_string(), "delete scope=layers.3");
}

TEST(FormVerbs, EveryEditOfThemIsOneThatTheVerbsTake) {
  const graph::GraphVersion model = LargeSession().model_graph();
  for (const char* path : {"layers.3.attention.sdpa", "layers.3.mlp.gate_proj", "layers.3.mlp.norm"})
    for (const FormVerb& verb : formVerbs(*model, model->find_path(path))) {
      TypedFields typed;
      for (const FormField& field : verb.fields)
        if (field.required) typed[field.name] = field.choices.isEmpty() ? "2" : field.choices.front();
      for (const edit::Edit& edit : editsOf(verb, path, typed))
        EXPECT_NE(edit::find_verb(edit.op), nullptr) << edit.to_string();
    }
}

TEST(Ranges, AreWrittenAsVerbsReadThem) {
  EXPECT_EQ(rangesOf({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(rangesOf({}), "");
}

class RealDocksTest : public EditingTest {
 protected:
  template <class Page>
  Page* show(const QString& id) {
    window_->showPage(id);
    auto* page = window_->findChild<Page*>();
    EXPECT_TRUE(waitUntil([&] { return page->isVisible(); }));
    return page;
  }
  static void fill(QLineEdit* line, const QString& words) {
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, words);
  }
  void bypass(const QString& scope) {
    window_->applyEdit("bypass", scope);
    settle();
  }
};

TEST_F(RealDocksTest, AWireThatHangsOverAPortTellsWhatItWillChange) {
  auto* page = show<ChangePage>("change");
  auto* history = show<HistoryPage>("history");
  bring(kMul);
  press(portAt(kGate, "dst"));
  moveTo(portAt(kMul, "b") + QPoint(60, 10));
  moveTo(portAt(kMul, "b"));
  ASSERT_TRUE(waitUntil([&] { return page->card()->isVisible(); }));
  EXPECT_EQ(history->model()->rowCount(), 2) << "and stands as the next step";
  const std::vector<ChangeRow>& rows = page->card()->rows();
  const auto nodes =
      std::find_if(rows.begin(), rows.end(), [](const ChangeRow& row) { return row.label == "nodes"; });
  ASSERT_NE(nodes, rows.end());
  EXPECT_TRUE(nodes->after.contains("1 changed")) << nodes->after.toStdString();
  EXPECT_EQ(nodes->detail, "gate: reads gate_proj:dst, not up_proj:dst") << nodes->detail.toStdString();
  takePicture(*window_, "real-change");
  QTest::keyClick(view(), Qt::Key_Escape);
  release(portAt(kMul, "b"));
  EXPECT_FALSE(page->card()->isVisible());
  EXPECT_EQ(history->model()->rowCount(), 1);
}

TEST_F(RealDocksTest, AnEntryOfTheMenuTellsWhatItWillChange) {
  auto* page = show<ChangePage>("change");
  bring(kMul);
  view()->selectScope("layers.3");
  bool told = false, forgotten = false;
  QTimer::singleShot(0, [&] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    ASSERT_TRUE(menu);
    for (QAction* entry : menu->actions())
      if (entry->text() == "Bypass layers.3") menu->setActiveAction(entry);
    told = waitUntil([&] { return page->card()->isVisible(); });
    for (QAction* entry : menu->actions())
      if (entry->text() == "Fit") menu->setActiveAction(entry);
    forgotten = waitUntil([&] { return !page->card()->isVisible(); });
    menu->close();
  });
  window_->graphPage()->showMenuOf(view()->selection(), view()->mapToGlobal(QPoint(10, 10)));
  EXPECT_TRUE(told);
  EXPECT_TRUE(forgotten) << "an entry that changes nothing foretells nothing";
  EXPECT_FALSE(page->card()->isVisible());
  EXPECT_FALSE(window_->session()->canUndo()) << "it was only looked at";
}

TEST_F(RealDocksTest, AnEditTooManyIsRefusedWithBothShapes) {
  auto* page = show<ChangePage>("change");
  emit window_->work().editConsidered(
      {*edit::parse_edit("connect input=layers.0.mlp.gate.b value=layers.0.mlp.norm:dst")});
  ASSERT_TRUE(waitUntil([&] { return page->refusal()->isVisible(); }));
  const Refusal& refusal = page->refusal()->refusal();
  ASSERT_TRUE(refusal.gives && refusal.takes);
  EXPECT_EQ(refusal.gives->dims.last(), "576");
  EXPECT_EQ(refusal.takes->dims.last(), "1536");
  emit window_->work().editConsidered({*edit::parse_edit("bypass scope=layers.4.mlp.gate")});
  ASSERT_TRUE(
      waitUntil([&] { return page->refusal()->refusal().title == "Bypass layers.4.mlp.gate is refused"; }));
  takePicture(*window_, "real-change-refused");
}

TEST_F(RealDocksTest, TheFormTypesAnEditAndTellsWhatItWillChange) {
  for (const ThemeChoice theme : {ThemeChoice::light, ThemeChoice::dark}) {
    quit(*window_);
    open(theme);
    auto* change = show<ChangePage>("change");
    InspectorPage* inspector = window_->inspectorPage();
    bring("layers.0.attention.sdpa");
    emit window_->work().nodeChosen(node("layers.0.attention.sdpa"), false);
    ASSERT_NE(inspector->editSection(), nullptr);
    if (!inspector->editSection()->isOpen())
      QTest::mouseClick(inspector->editSection()->findChild<SectionHeader*>(), Qt::LeftButton);
    EditForm* form = inspector->form();
    ASSERT_NE(form, nullptr);
    EXPECT_FALSE(form->applyButton()->isEnabled()) << "nothing is changed";
    EditRow *p = form->row("p"), *window = form->row("window"), *heads = form->row("heads");
    ASSERT_TRUE(p && window && heads);
    fill(window->line(), "-4");
    EXPECT_EQ(window->help(), "it is at least 0");
    EXPECT_FALSE(form->applyButton()->isEnabled());
    settle();
    takePicture(*inspector->editSection(),
                theme == ThemeChoice::dark ? "form-range-dark" : "form-range-light");
    fill(window->line(), "16");
    EXPECT_EQ(window->range(), "was 0");
    EXPECT_TRUE(form->applyButton()->isEnabled());
    QTest::mouseClick(heads->heads(), Qt::LeftButton, {}, heads->heads()->rectOf(2).center());
    ASSERT_TRUE(waitUntil([&] { return change->card()->isVisible(); }));
    EXPECT_EQ(change->title(), "Attention layers.0.attention.sdpa");
    takePicture(*window_, theme == ThemeChoice::dark ? "real-form-dark" : "real-form-light");
    takePicture(*inspector->editSection(), theme == ThemeChoice::dark ? "form-dark" : "form-light");
    QTest::mouseClick(form->applyButton(), Qt::LeftButton);
    ASSERT_TRUE(recipeBecomes("attention heads=0-1,3-8 scope=layers.0.attention.sdpa window=16"));
    EXPECT_FALSE(change->card()->isVisible());
    form = inspector->form();
    ASSERT_NE(form, nullptr);
    EXPECT_EQ(form->row("window")->text(), "16");
    EXPECT_FALSE(form->applyButton()->isEnabled()) << "what was typed is done";
  }
}

TEST_F(RealDocksTest, TheFormCannotApplyWhatIsRefused) {
  auto* change = show<ChangePage>("change");
  InspectorPage* inspector = window_->inspectorPage();
  emit window_->work().nodeChosen(node("layers.0.attention.sdpa"), false);
  QTest::mouseClick(inspector->editSection()->findChild<SectionHeader*>(), Qt::LeftButton);
  EditForm* form = inspector->form();
  ASSERT_NE(form, nullptr);
  fill(form->row("limit")->line(), "3");  // of fastmax
  ASSERT_TRUE(waitUntil([&] { return change->refusal()->isVisible(); }));
  EXPECT_FALSE(form->applyButton()->isEnabled());
  QTest::mouseClick(form->resetButton(), Qt::LeftButton);
  EXPECT_FALSE(change->refusal()->isVisible());
  EXPECT_EQ(recipe(), "");
}

TEST_F(RealDocksTest, TheSameIsAskedOfEveryLayer) {
  InspectorPage* inspector = window_->inspectorPage();
  emit window_->work().nodeChosen(node("layers.0.attention.sdpa"), false);
  QTest::mouseClick(inspector->editSection()->findChild<SectionHeader*>(), Qt::LeftButton);
  settle();  // the form is made anew with each plan
  EditForm* form = inspector->form();
  ASSERT_NE(form->where(), nullptr);
  QTest::keyClick(form->row("kind")->segments(), Qt::Key_Right);
  EXPECT_EQ(form->row("kind")->text(), "fastmax");
  QTest::keyClick(form->where(), Qt::Key_Right);
  QTest::mouseClick(form->applyButton(), Qt::LeftButton);
  ASSERT_TRUE(recipeBecomes("attention kind=fastmax scope=layers.*.attention.sdpa"));
  emit window_->work().nodeChosen(node("sampler.sample"), false);
  ASSERT_NE(inspector->form(), nullptr);
  EXPECT_EQ(inspector->form()->verbs()->menu()->actions().front()->text(), "set");
  EXPECT_EQ(inspector->form()->where(), nullptr) << "there is one";
}

TEST_F(RealDocksTest, WhatIsTypedOutlivesAnotherPlan) {
  InspectorPage* inspector = window_->inspectorPage();
  emit window_->work().nodeChosen(node("layers.0.attention.sdpa"), false);
  QTest::mouseClick(inspector->editSection()->findChild<SectionHeader*>(), Qt::LeftButton);
  fill(inspector->form()->row("window")->line(), "16");
  inspector->setPhase(api::Phase::prefill);
  settle();
  EXPECT_EQ(inspector->form()->row("window")->text(), "16");
  emit window_->work().nodeChosen(node("layers.1.attention.sdpa"), false);
  EXPECT_EQ(inspector->form()->row("window")->text(), "0") << "of another node";
}

TEST_F(RealDocksTest, CostsAreThoseAgainstTheOriginal) {
  const edit::Edit first = *edit::parse_edit("bypass scope=layers.3"),
                   second = *edit::parse_edit("bypass scope=layers.20");
  const SessionPtr session = window_->session()->session();
  const auto alone = session->measure({second}, {}, {}), together = session->measure({first, second}, {}, {});
  ASSERT_TRUE(alone.ok() && together.ok());
  bypass("layers.3");
  bypass("layers.20");
  auto* page = show<CostsPage>("costs");
  ASSERT_TRUE(waitUntil(
      [&] {
        const std::vector<CostCard*> cards = page->cards();
        return cards.size() == 3 && cards[0]->cost().change && cards[1]->cost().change &&
               cards[2]->cost().change;
      },
      60000));
  EXPECT_DOUBLE_EQ(*page->cards()[1]->cost().change->kl, *alone->kl);
  EXPECT_DOUBLE_EQ(*page->cards()[2]->cost().change->kl, *together->kl);
  EXPECT_GT(*page->cards()[2]->cost().change->kl, *page->cards()[1]->cost().change->kl);
  for (CostCard* card : page->cards())
    for (const CostLine& line : card->lines())
      EXPECT_NE(line.value, format::dash()) << line.label.toStdString();
  EXPECT_EQ(session->context_used(), 0) << "the chat is left alone";
  takePicture(*window_, "real-costs");
}

TEST_F(RealDocksTest, AnEditThatNeedsAnotherOneSaysSo) {
  const auto edit = [this](const char* words) {
    window_->session()->apply(*edit::parse_edit(words));
    settle();
  };
  edit("repeat scope=layers.3 times=2");
  edit("bypass scope=layers.3@2");
  auto* page = show<CostsPage>("costs");
  ASSERT_TRUE(waitUntil(
      [&] { return page->cards().size() == 3 && page->cards()[2]->cost().change.has_value(); }, 60000));
  EXPECT_TRUE(page->cards()[0]->cost().change.has_value());
  EXPECT_TRUE(costRefusal(page->cards()[1]->cost()).startsWith("cannot be made alone: "))
      << costRefusal(page->cards()[1]->cost()).toStdString();
  takePicture(*window_, "real-costs-refused");
}

TEST_F(RealDocksTest, RepliesDifferFromAToken) {
  bypass("layers.3");
  bypass("layers.20");
  auto* page = show<RepliesPage>("replies");
  page->prompt()->setText("Why is the sky dark at night?");
  page->button()->click();
  ASSERT_TRUE(waitUntil([&] { return !page->pair()->running(); }, 120000));
  ReplyCard &before = *page->card(Side::before), &after = *page->card(Side::after);
  ASSERT_GT(before.tokens().size(), 10U);
  const auto token = firstDifference(before.tokens(), after.tokens());
  ASSERT_TRUE(token);
  EXPECT_EQ(after.note(), QString("differs from token %1").arg(*token + 1));
  EXPECT_NE(before.marked(), after.marked());
  takePicture(*window_, "real-replies");
  window_->session()->jumpTo(0);
  settle();
  const QString original = before.text();
  page->button()->click();
  ASSERT_TRUE(waitUntil([&] { return !page->pair()->running(); }, 120000));
  EXPECT_EQ(page->card(Side::after)->text(), original) << "without edits both are the original's";
}

class EncoderDocksTest : public WindowTest {};

TEST_F(EncoderDocksTest, AnEncoderHasMemoryAndCosineAndNoReplies) {
  const auto window = makeWindow(realServices(), ThemeChoice::light);
  ASSERT_TRUE(opened(*window, "sentiment"));
  ASSERT_TRUE(waitUntil([&] { return window->work().drawn() == window->classifier(); }, 60000));
  ASSERT_TRUE(window->classifier()->session());
  for (const char* page : {"history", "change", "costs", "replies"}) window->showPage(page);
  auto* change = window->findChild<ChangePage*>();
  emit window->work().editConsidered({*edit::parse_edit("bypass scope=layers.3")});
  ASSERT_TRUE(waitUntil([&] { return change->card()->isVisible(); }, 60000))
      << change->refusal()->refusal().cause.toStdString();
  for (const ChangeRow& row : change->card()->rows()) EXPECT_NE(row.label, "context");
  window->applyEdit("bypass", "layers.3");
  auto* costs = window->findChild<CostsPage*>();
  ASSERT_TRUE(waitUntil(
      [&] { return costs->cards().size() == 2 && costs->cards()[1]->cost().change.has_value(); }, 60000));
  EXPECT_LT(*costs->cards()[0]->cost().change->cosine, 0.99999);
  EXPECT_EQ(costs->cards()[0]->lines().back().label, "cosine");
  EXPECT_EQ(window->findChild<HistoryPage*>()->model()->now(), 1);
  EXPECT_FALSE(window->findChild<RepliesPage*>()->button()->isEnabled());
  takePicture(*window, "real-docks-encoder");
}

}  // namespace
}  // namespace orrery::ui::testing
