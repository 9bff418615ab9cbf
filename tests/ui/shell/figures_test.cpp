// What a person reads of times and shares, wherever it is written: the same figure everywhere, at every
// moment.
#include <QElapsedTimer>
#include <QHeaderView>
#include <QRegularExpression>
#include <QTest>
#include <random>

#include "support/read_texts.h"
#include "support/real_services.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kActions = 60;  // instrumented code is several times slower
#else
constexpr int kActions = 500;
#endif
const QString kDash = QStringLiteral("–");

/// "≈ 1.37 ms" in µs; -1: it is no time.
double microseconds(const QString& text) {
  static const QRegularExpression pattern(QStringLiteral("^(?:≈ )?([0-9.\u202F]+) (ns|µs|ms|s)$"));
  const QRegularExpressionMatch match = pattern.match(text);
  if (!match.hasMatch()) return -1;
  const double value = QString(match.captured(1)).remove(QChar(0x202F)).toDouble();
  const QString unit = match.captured(2);
  return unit == "ns" ? value * 1e-3 : unit == "µs" ? value : unit == "ms" ? value * 1e3 : value * 1e6;
}

/// A name, whole or with its middle left out.
bool isName(const QString& text, const QString& name) {
  const qsizetype gap = text.indexOf(QChar(0x2026));
  return gap < 0 ? text == name : name.startsWith(text.left(gap)) && name.endsWith(text.mid(gap + 1));
}

/// Of "32.4 %"; another text is none.
void expectShare(const QString& text) {
  if (!text.endsWith(QStringLiteral(" %"))) return;
  const double share = text.chopped(2).remove(QChar(0x202F)).toDouble();
  EXPECT_TRUE(share >= 0 && share <= 100) << text.toStdString();
}

class FiguresTest : public WindowTest {
 protected:
  void open(ThemeChoice theme) {
    window_ = makeWindow(realServices(), theme);
    window_->resize(1600, 1000);
    ASSERT_TRUE(opened(*window_, "smollm2"));
    settle();
  }
  /// Nothing runs, loads or compiles, and all of it is shown.
  void settle() {
    const auto idle = [&] { return window_->session()->idle() && window_->classifier()->idle(); };
    EXPECT_TRUE(waitUntil(idle, 60000));
    window_->session()->poll();
    window_->classifier()->poll();
    EXPECT_TRUE(waitUntil(idle, 60000));
    EXPECT_TRUE(window_->graphPage()->view()->waitForLayout());
    QApplication::processEvents();
  }
  void say(const QString& text, int tokens) {
    api::SamplingOptions greedy;
    greedy.temperature = 0;
    window_->chatPage()->sampling()->setSampling(greedy);
    window_->chatPage()->sampling()->setMaximumTokens(tokens);
    window_->chatPage()->send(text);
  }
  bool drawnWrites() const {
    const SessionPtr session = window_->graphPage()->source()->session();
    return session && session->info().task == api::Task::generate;
  }

  /// What is written of one row of the outline, chosen with the mouse, wherever it is written; `drawing`: in
  /// the exported drawing too, which takes the longest to read.
  void expectSameFigures(const QModelIndex& row, bool drawing);
  void expectTable();

  std::unique_ptr<MainWindow> window_;
  bool ran_ = false;  // something ran on the graph that is drawn, in the phase that is shown
  int inGraph_ = 0;   // rows whose figure was found in the drawing, too
};

void FiguresTest::expectSameFigures(const QModelIndex& row, bool drawing) {
  QTreeView* tree = window_->outlinePanel()->tree();
  for (QModelIndex up = row.parent(); up.isValid(); up = up.parent()) tree->expand(up);
  tree->scrollTo(row);
  QApplication::processEvents();
  QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(row).center());
  settle();
  ASSERT_TRUE(tree->currentIndex().isValid());
  const QModelIndex chosen = tree->currentIndex().siblingAtColumn(0);
  const std::string what = chosen.data(OutlineModel::pathRole).toString().toStdString();
  SCOPED_TRACE(what);

  // The outline: the texts of its row.
  const QRect area = tree->visualRect(chosen);
  QStringList outline;
  for (const ReadText& text : readTexts(*tree->viewport()))
    if (text.at.y() > area.top() && text.at.y() <= area.bottom() + 1) outline += text.text;
  ASSERT_GE(outline.size(), 2) << "a name and a time";
  const QString time = outline[1];
  EXPECT_EQ(time == kDash, !ran_ || chosen.data(OutlineModel::bypassedRole).toBool()) << time.toStdString();
  for (const QString& text : outline) expectShare(text);

  // The inspector: its section of times.
  const ReadTexts inspector = readTexts(*window_->inspectorPage());
  const QStringList line = lineOf(inspector, "Time");
  ASSERT_EQ(line.size(), 2) << line.join('|').toStdString();
  const QStringList figures = line[1].split("  p95 ");
  EXPECT_EQ(figures[0].toStdString(), time.toStdString());
  if (figures.size() > 1) {
    EXPECT_GE(microseconds(figures[1]), microseconds(figures[0]));
  }
  for (const char* name : {"memory", "compute", "of the step"})
    for (const QString& text : lineOf(inspector, name)) expectShare(text);

  // The drawing as it is exported: a time stands to the right of its name.
  if (!drawing) return;
  const QString name = chosen.data().toString();
  const QString file = path("graph.svg");
  GraphView* view = window_->graphPage()->view();
  const HeatMode heat = view->heatMode();
  view->setHeatMode(HeatMode::time);
  ASSERT_TRUE(view->exportImage(file));
  view->setHeatMode(heat);
  const ReadTexts drawn = readSvg(file);
  QStringList times;
  int names = 0;
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i].mono || !isName(drawn[i].text, name)) continue;
    ++names;
    for (size_t k = i + 1; k < drawn.size() && std::abs(drawn[k].at.y() - drawn[i].at.y()) < 4; ++k) {
      if (!drawn[k].mono && drawn[k].weight >= 600 && drawn[k].size == drawn[i].size) break;  // the next name
      if (microseconds(drawn[k].text) < 0) continue;
      times += drawn[k].text;
      break;
    }
  }
  if (names == 1) {
    ++inGraph_;
    EXPECT_EQ(times.join('|').toStdString(), time == kDash ? "" : time.toStdString());
  } else if (names > 1 && time != kDash) {
    ++inGraph_;
    EXPECT_TRUE(times.contains(time)) << times.join('|').toStdString() << " without " << time.toStdString();
  }
}

/// Figures that are of no row: legend, plot, status line.
void FiguresTest::expectTable() {
  for (const ReadText& text : readTexts(*window_->graphPage()->view())) {
    expectShare(text.text);
    EXPECT_FALSE(text.text.contains("nan") || text.text.contains("inf")) << text.text.toStdString();
  }
  const ReadTexts plot = readTexts(*window_->latencyPage());
  QStringList values;
  for (const char* caption : {"decode p50", "decode p95", "text p50", "text p95", "speed"}) {
    for (size_t i = 0; i + 1 < plot.size(); ++i)
      if (plot[i].text == caption) {
        const auto below = std::find_if(plot.begin(), plot.end(), [&](const ReadText& text) {
          return text.at.y() > plot[i].at.y() + 4 && std::abs(text.at.x() - plot[i].at.x()) < 4;
        });
        ASSERT_NE(below, plot.end());
        values += below->text;
      }
  }
  ASSERT_EQ(values.size(), 3) << values.join('|').toStdString();
  if (values[0] == kDash) {
    EXPECT_EQ(values[1], kDash);
    EXPECT_EQ(values[2], kDash);
  } else {
    EXPECT_LE(values[0].toDouble(), values[1].toDouble());
  }
  if (window_->latencyPage()->pairShown() || window_->graphPage()->source() != window_->session()) return;
  QString speed = kDash;
  for (const ReadText& text : readTexts(*window_->status()))
    if (text.text.endsWith(" tok/s")) speed = text.text.chopped(6);
  EXPECT_EQ(speed.toStdString(), values[2].toStdString()) << "in the status line and beside the plot";
}

TEST_F(FiguresTest, OneFigureOfAThingWhereverItIsWritten) {
  open(ThemeChoice::dark);
  std::mt19937 random(11);
  const auto below = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  struct {
    bool prefill = false, decode = false, texts = false;
  } measured;
  bool decode = true;
  // The last token of a reply, which may be the first, is not run.
  QObject::connect(
      window_->session(), &SessionController::replyFinished, window_.get(),
      [&](const api::ChatResult& result) { measured.decode = measured.decode || result.decode_ms > 0; });
  QElapsedTimer clock;
  clock.start();
  for (int action = 0; action < kActions && !HasFailure(); ++action) {
    const int kind = below(24);
    const bool chats = window_->graphPage()->source() == window_->session();
    const graph::GraphVersion before = window_->session()->session()->model_graph();
    const QString layer = QString("layers.%1").arg(below(30));
    std::string did;
    if (kind < 4) {
      did = "chat";
      window_->showPage("chat");
      say("Planet " + QString::number(action), 1 + below(5));
      measured.prefill = true;
    } else if (kind < 6 && chats) {
      did = "bypass";
      window_->applyEdit("bypass", layer);
    } else if (kind == 6 && chats) {
      did = "restore";
      window_->session()->restore(layer);
    } else if (kind == 7 && chats && window_->session()->canUndo()) {
      did = "undo";
      window_->action("edit.undo")->trigger();
    } else if (kind == 8 && chats && window_->session()->canRedo()) {
      did = "redo";
      window_->action("edit.redo")->trigger();
    } else if (kind < 11) {
      did = "phase";
      decode = below(2) == 0;
      emit window_->toolBar()->phaseChosen(decode ? api::Phase::decode : api::Phase::prefill);
    } else if (kind < 13) {
      did = "fold";
      below(2) == 0 ? window_->graphPage()->view()->collapseAll()
                    : window_->graphPage()->view()->toggleScope(layer);
    } else if (kind == 13) {
      did = "theme";
      window_->setThemeChoice(below(2) == 0 ? ThemeChoice::dark : ThemeChoice::light);
    } else if (kind == 14) {
      did = "tab";
      window_->graphPage()->showTab(below(2) == 0);
    } else if (kind == 15) {
      did = "heat";
      const HeatMode modes[] = {HeatMode::off, HeatMode::time, HeatMode::bytes, HeatMode::share};
      emit window_->toolBar()->heatChosen(modes[below(4)]);
    } else if (kind == 16 && below(4) == 0) {
      did = "model";
      window_->openModel("smollm2");
      press(window_->graphPage()->banner(), "Open without saving");
      ASSERT_TRUE(waitUntil([&] { return !window_->session()->loading(); }, 60000));
    } else if (kind == 17) {
      did = "new chat";
      window_->chatPage()->newChat();
    } else if (kind < 20) {
      did = "classify";
      window_->showPage("classify");
      window_->classifyPage()->classifyTexts({"A warm film", "Dull and long " + QString::number(action)});
      ASSERT_TRUE(waitUntil([&] { return window_->classifyPage()->model()->doneCount() == 2; }, 60000));
      measured.texts = true;
    } else if (kind == 20) {
      did = "the other graph";
      emit window_->classifyPage()->graphAsked(chats);
    } else {
      const char* pages[] = {"chat", "classify", "compare"};
      did = pages[below(3)];
      window_->showPage(QString::fromStdString(did));
    }
    SCOPED_TRACE(std::to_string(action) + ": " + did);
    settle();
    if (window_->session()->session()->model_graph() != before) measured.prefill = measured.decode = false;
    ran_ = !drawnWrites() ? measured.texts : decode ? measured.decode : measured.prefill;
    const bool drawing = action % 2 == 0;  // in turns, for time
    if (!drawing) expectTable();
    const OutlineModel* outline = window_->outlinePanel()->model();
    const graph::GraphVersion graph = window_->graphPage()->fusedShown()
                                          ? window_->graphPage()->source()->session()->fused_graph()
                                          : window_->graphPage()->source()->session()->model_graph();
    std::vector<NodeId> nodes;
    for (const NodeId id : graph->order())
      if (outline->indexOf(id).isValid() && !graph->node(id).is_source()) nodes.push_back(id);
    ASSERT_FALSE(nodes.empty());
    QModelIndex row = outline->indexOf(nodes[random() % nodes.size()]);
    if (below(3) == 0 && row.parent().parent().isValid()) row = row.parent();  // a group
    expectSameFigures(row, drawing);
  }
  EXPECT_GT(inGraph_, kActions / 4) << "the drawing was read as well";
  std::printf("%d actions, %d figures in the drawing too, %lld ms\n", kActions, inGraph_,
              static_cast<long long>(clock.elapsed()));
  takePicture(*window_, "figures-walk");
}

}  // namespace
}  // namespace orrery::ui::testing
