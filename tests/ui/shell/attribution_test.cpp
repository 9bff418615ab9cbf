// "Which tokens it follows from" in the inspector, on the real engine and the default models.
#include <QClipboard>
#include <QTest>
#include <cmath>

#include "support/real_model_fixture.h"
#include "ui/frame/workspace.h"

namespace orrery::ui::testing {
namespace {

class AttributionTest : public RealModelTest {
 protected:
  AttributionSection* section() const { return window_->inspectorPage()->attribution(); }
  AttributionController* controller() const { return window_->work().attributions(); }
  void openSection() {
    if (!section()->isOpen()) QTest::mouseClick(section()->findChild<SectionHeader*>(), Qt::LeftButton);
    ASSERT_TRUE(section()->isOpen());
  }
  void compute() {
    ASSERT_TRUE(section()->computeButton()->isEnabled());
    section()->computeButton()->click();
    ASSERT_TRUE(waitUntil([&] { return !controller()->running(); }, 120000));
  }
  void classify(const QString& text) {
    window_->showPage("classify");
    window_->classifyPage()->classifyTexts({text});
    ASSERT_TRUE(waitUntil(
        [&] {
          return window_->classifyPage()->model()->doneCount() == 1 && !window_->classifier()->running();
        },
        120000))
        << window_->classifyPage()->banner()->body().toStdString();
  }
  /// What is drawn is what the engine computes.
  void expectScores(SessionController* source, const api::AttributionRequest& request) {
    const auto expected = api::attribute(*source->session(), request);
    ASSERT_TRUE(expected.ok()) << expected.error().to_string();
    ASSERT_TRUE(controller()->result()) << section()->message()->text().toStdString();
    const std::vector<TokenSpan>& spans = section()->spans()->tokens();
    ASSERT_EQ(spans.size(), expected->tokens.size());
    const Theme theme(Theme::Mode::dark);
    double strongest = 0;
    for (size_t i = 0; i < spans.size(); ++i) {
      const api::TokenScore& token = expected->tokens[i];
      EXPECT_NEAR(controller()->result()->tokens[i].score, token.score, 1e-4 + 1e-3 * std::abs(token.score));
      EXPECT_EQ(controller()->result()->tokens[i].id, token.id);
      EXPECT_EQ(spans[i].below.startsWith('+'), token.score > 0);
      ASSERT_TRUE(spans[i].color);
      EXPECT_EQ(spans[i].color(theme), theme.ratio(token.score > 0 ? 4 : -4));
      strongest = std::max(strongest, spans[i].tint);
    }
    EXPECT_NEAR(strongest, 0.6, 1e-9);
    EXPECT_EQ(controller()->result()->target, expected->target);
    EXPECT_TRUE(section()->figures()->text().contains("logit"));
  }
  void bring() {
    waitUntil([] { return false; }, 300);
    auto* scroll = window_->inspectorPage()->findChild<QScrollArea*>();
    scroll->ensureWidgetVisible(section()->copyButton());
    QApplication::processEvents();
  }
};

TEST_F(AttributionTest, ALabelFollowsFromTheTokensOfAText) {
  openAt("classify", ThemeChoice::dark);
  EXPECT_FALSE(section()->isOpen());
  const QString text = "A small, warm film that earns every one of its tears, though the plot is terrible.";
  ASSERT_NO_FATAL_FAILURE(classify(text));
  ASSERT_EQ(controller()->source(), window_->classifier());
  openSection();
  EXPECT_EQ(section()->text()->toPlainText(), text);
  ASSERT_NO_FATAL_FAILURE(compute());
  ASSERT_NO_FATAL_FAILURE(expectScores(window_->classifier(), {text.toStdString()}));
  EXPECT_TRUE(section()->outdated()->isHidden());
  bring();
  takePicture(*window_, "attribution-label-dark");

  const std::string other =
      window_->classifier()->session()->info().labels[controller()->result()->target == 0 ? 1 : 0];
  QTest::keyClicks(section()->target(), QString::fromStdString(other));
  EXPECT_FALSE(section()->outdated()->isHidden());  // it is of the likeliest one
  ASSERT_NO_FATAL_FAILURE(compute());
  EXPECT_EQ(controller()->result()->target_name, other);
  ASSERT_NO_FATAL_FAILURE(expectScores(window_->classifier(), {text.toStdString(), other}));
  EXPECT_TRUE(section()->outdated()->isHidden());
  section()->copyButton()->click();
  const QStringList lines = QGuiApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), 1 + static_cast<qsizetype>(controller()->result()->tokens.size()));
  EXPECT_EQ(lines.front(), "token,id,score");
  EXPECT_EQ(lines[2].section(',', -1).toDouble(),
            QString::number(controller()->result()->tokens[1].score, 'g', 9).toDouble());

  section()->target()->setText("no such label");
  ASSERT_NO_FATAL_FAILURE(compute());
  EXPECT_FALSE(controller()->result());
  EXPECT_TRUE(section()->spans()->isHidden());
  EXPECT_TRUE(section()->message()->text().contains("is no label"))
      << section()->message()->text().toStdString();
}

TEST_F(AttributionTest, TheNextTokenFollowsFromTheLastMessage) {
  openAt("chat", ThemeChoice::light);
  const QString text = "The capital of France is the city of";
  window_->chatPage()->sampling()->setMaximumTokens(2);
  window_->chatPage()->send(text);
  ASSERT_TRUE(waitUntil([&] { return window_->session()->idle(); }, 120000));
  openSection();
  EXPECT_EQ(section()->text()->toPlainText(), text);
  ASSERT_NO_FATAL_FAILURE(compute());
  ASSERT_NO_FATAL_FAILURE(expectScores(window_->session(), {text.toStdString()}));
  bring();
  takePicture(*window_, "attribution-token-light");

  window_->applyEdit("bypass", "layers.3");
  ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().size() == 1; }, 60000));
  ASSERT_TRUE(waitUntil([&] { return window_->session()->idle(); }, 60000));
  EXPECT_TRUE(section()->outdated()->text().startsWith("The graph has changed"));
  EXPECT_TRUE(controller()->result());  // as it was, and said so
  ASSERT_NO_FATAL_FAILURE(compute());
  EXPECT_TRUE(section()->outdated()->isHidden());
  ASSERT_NO_FATAL_FAILURE(expectScores(window_->session(), {text.toStdString()}));

  section()->text()->setPlainText("Another text of my own");
  EXPECT_TRUE(section()->outdated()->text().startsWith("Of another text"));
  window_->chatPage()->send("Hello");
  ASSERT_TRUE(waitUntil([&] { return window_->session()->idle(); }, 120000));
  EXPECT_EQ(section()->text()->toPlainText(), "Another text of my own");  // what a person typed stays

  // A node is chosen: all else is built anew.
  QPlainTextEdit* field = section()->text();
  field->setFocus();
  emit window_->work().nodeChosen(window_->session()->session()->model_graph()->order().back(), false);
  EXPECT_EQ(section()->text(), field);
  EXPECT_TRUE(section()->isVisibleTo(window_->inspectorPage()));
  EXPECT_TRUE(field->hasFocus());
}

TEST_F(AttributionTest, StopLeavesNothing) {
  openAt("chat", ThemeChoice::dark);
  openSection();
  EXPECT_FALSE(section()->computeButton()->isEnabled());  // no text
  section()->text()->setPlainText("One two three four five");
  section()->computeButton()->click();
  EXPECT_TRUE(controller()->running());
  EXPECT_EQ(section()->computeButton()->text(), "Stop");
  section()->computeButton()->click();
  ASSERT_TRUE(waitUntil([&] { return !controller()->running(); }, 60000));
  EXPECT_FALSE(controller()->result());
  EXPECT_FALSE(controller()->failure());
  EXPECT_EQ(section()->computeButton()->text(), "Compute");
}

TEST_F(AttributionTest, SaysWhatHasNoGradient) {
  openAt("chat", ThemeChoice::dark);
  openSection();
  section()->text()->setPlainText("One two three");
  const auto edit = edit::parse_edit("set node=layers.1.attention.sdpa attribute=softcap value=30.0");
  ASSERT_TRUE(edit.ok()) << edit.error().to_string();
  window_->session()->apply(*edit);
  ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().size() == 1; }, 60000));
  ASSERT_NO_FATAL_FAILURE(compute());
  EXPECT_FALSE(controller()->result());
  EXPECT_TRUE(section()->message()->text().contains("has no softcap"))
      << section()->message()->text().toStdString();
  bring();
  takePicture(*window_, "attribution-refused-dark");
}

TEST_F(AttributionTest, AnotherModelIsAskedAnew) {
  openAt("chat", ThemeChoice::light);
  openSection();
  section()->text()->setPlainText("The capital of France is");
  ASSERT_NO_FATAL_FAILURE(compute());
  ASSERT_TRUE(controller()->result());
  ASSERT_NO_FATAL_FAILURE(classify("I loved every minute of it."));
  EXPECT_EQ(controller()->source(), window_->classifier());
  EXPECT_FALSE(controller()->result());
  EXPECT_TRUE(section()->spans()->isHidden());
  EXPECT_EQ(section()->text()->toPlainText(), "The capital of France is");
}

}  // namespace
}  // namespace orrery::ui::testing
