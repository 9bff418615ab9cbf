// Models that label tokens and models that rank documents, in the window and on the real engine.
#include <QTest>

#include "engine/api/shown_session.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

const QString kEncoders = QString(ORRERY_TEST_DATA) + "/encoders/";

class EncoderHeadsTest : public WindowTest {
 protected:
  /// A window with this encoder open, and with it on the classify page.
  std::unique_ptr<MainWindow> windowWith(const QString& encoder, ThemeChoice theme = ThemeChoice::dark) {
    Services services;
    services.open = api::open_or_show;
    services.listModels = [](const auto&) { return std::vector<api::LibraryEntry>(); };
    services.canBypass = edit::can_bypass;
    auto window = makeWindow(services, theme);
    EXPECT_TRUE(opened(*window, kEncoders + encoder)) << window->graphPage()->banner()->body().toStdString();
    EXPECT_TRUE(waitUntil([&] { return window->classifier()->session() != nullptr; }));
    return window;
  }
  static bool idle(MainWindow& window) {
    return waitUntil([&] { return !window.classifier()->running(); });
  }
};

TEST_F(EncoderHeadsTest, EveryTokenIsDrawnWithItsLabel) {
  auto window = windowWith("bert_tokens");
  ClassifyPage* page = window->classifyPage();
  EXPECT_TRUE(page->isVisible());
  ASSERT_EQ(page->kind(), ClassifyPage::Kind::tokens);
  const std::string text = "hello world";
  QTest::keyClicks(page->field(), QString::fromStdString(text));
  QTest::keyClick(page->field(), Qt::Key_Return);
  ASSERT_TRUE(waitUntil([&] { return page->model()->doneCount() == 1; }));
  ASSERT_TRUE(idle(*window));
  const auto expected = window->classifier()->session()->classify({text}, {}, {});
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();
  const std::vector<api::TokenLabel>& tokens = expected->front().tokens;
  ASSERT_FALSE(tokens.empty());

  const TokenSpans* spans = page->tokens()->spans();
  ASSERT_EQ(spans->tokens().size(), tokens.size());
  ASSERT_EQ(page->tokens()->table()->rowCount(), static_cast<int>(tokens.size()));
  for (int i = 0; i < page->tokens()->table()->rowCount(); ++i) {
    const api::TokenLabel& token = tokens[static_cast<size_t>(i)];
    const auto cell = [&](int column) { return page->tokens()->table()->item(i, column)->text(); };
    EXPECT_EQ(cell(0), QString::fromStdString(token.piece));
    EXPECT_EQ(cell(1), QString::fromStdString(token.label));
    EXPECT_EQ(cell(2), QString::number(scoreOf(token), 'f', 3));
    EXPECT_TRUE(QRectF(spans->rect()).contains(spans->rectOf(i))) << "token " << i << " is outside";
  }
  QTest::mouseClick(page->tokens()->spans(), Qt::LeftButton, {}, spans->rectOf(1).center().toPoint());
  EXPECT_EQ(page->tokens()->table()->currentRow(), 1);
  EXPECT_TRUE(page->model()->csv().startsWith("text,token,label,p_low,p_middle,p_high"));
  waitUntil([] { return false; }, 200);
  takePicture(*window, "token-labels-dark");
}

TEST_F(EncoderHeadsTest, TokensOfOneEntityHaveOneColour) {
  TokenSpans spans(Theme(Theme::Mode::light));
  const auto token = [](const char* label) { return api::TokenLabel{0, "x", label, {0.1F, 0.9F}}; };
  spans.setTokens(labelledSpans({token("B-PER"), token("I-PER"), token("B-LOC"), token("O")},
                                {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}));
  EXPECT_EQ(spans.colorOf(0), spans.colorOf(1));
  EXPECT_NE(spans.colorOf(0), spans.colorOf(2));
  EXPECT_NE(spans.colorOf(3), spans.colorOf(0));
  EXPECT_NE(spans.colorOf(3), spans.colorOf(2));
}

TEST_F(EncoderHeadsTest, DocumentsAreRankedByTheirScores) {
  auto window = windowWith("bert_pairs", ThemeChoice::light);
  ClassifyPage* page = window->classifyPage();
  ASSERT_EQ(page->kind(), ClassifyPage::Kind::documents);
  const QStringList documents = {"the world", "hello there", "a b c", "hello hello hello world"};
  const std::string query = "hello world";
  page->documents()->setPlainText(documents.join("\n"));
  QTest::keyClicks(page->field(), QString::fromStdString(query));
  page->classifyButton()->click();
  ASSERT_TRUE(waitUntil([&] { return page->ranking()->rowCount() == 4; }))
      << page->banner()->body().toStdString();
  ASSERT_TRUE(idle(*window));
  std::vector<std::string> passages;
  for (const QString& document : documents) passages.push_back(document.toStdString());
  const auto expected = window->classifier()->session()->rerank(query, passages, {});
  ASSERT_TRUE(expected.ok()) << expected.error().to_string();
  const std::vector<RankModel::Row>& rows = page->ranking()->rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto place = static_cast<size_t>(rows[i].place);
    EXPECT_EQ(rows[i].text, documents[rows[i].place]);
    EXPECT_FLOAT_EQ(rows[i].relevance.logit, (*expected)[place].logit);
    if (i == 0) continue;
    EXPECT_GE(rows[i - 1].relevance.logit, rows[i].relevance.logit);
  }
  EXPECT_EQ(page->table()->model()->rowCount(), 4);
  EXPECT_TRUE(page->ranking()->csv().startsWith("rank,place,score,logit,text"));
  waitUntil([] { return false; }, 200);
  takePicture(*window, "ranking-light");
}

TEST_F(EncoderHeadsTest, AnotherClassifierTakesThePlaceOfTheFirst) {
  auto window = windowWith("bert_pairs");
  ASSERT_TRUE(opened(*window, kEncoders + "bert_tokens"));
  ASSERT_TRUE(waitUntil([&] { return window->classifyPage()->kind() == ClassifyPage::Kind::tokens; }));
  EXPECT_FALSE(window->classifyPage()->documents()->isVisible());
  EXPECT_TRUE(window->classifyPage()->tokens()->isVisible());
}

}  // namespace
}  // namespace orrery::ui::testing
