#include "ui/own_ops/own_op_results.h"

#include <QPainter>
#include <algorithm>
#include <map>

#include "ui/theme/format.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kCaseLine = 18, kTimeEnd = 0.66;  // px; of the width
constexpr double kLeastResults = 200;              // px: device, time and difference beside each other

QString text(const std::string& words) { return QString::fromStdString(words); }

QString bodyWord(const custom::TrialCase& one) {
  return QString("%1 body of %2").arg(one.device == "CPU" ? "CPU" : "CUDA", text(one.body));
}

}  // namespace

QStringList trialSummary(const std::vector<custom::TrialCase>& cases) {
  struct Worst {
    double difference = 0, allowed = 0;
    int sizes = 0;
  };
  std::map<QString, Worst> all;
  for (const custom::TrialCase& one : cases) {
    if (one.against.empty()) continue;
    Worst& worst = all[QString("The %1 and %2").arg(bodyWord(one), text(one.against))];
    ++worst.sizes;
    if (worst.sizes > 1 && one.difference <= worst.difference && !one.over()) continue;
    worst.difference = one.difference;
    worst.allowed = one.allowed;
  }
  QStringList words;
  for (const auto& [who, worst] : all)
    words += QString("%1 differ by %2 at most, of the largest number, where %3 is allowed (%4)")
                 .arg(who, format::distance(worst.difference), format::distance(worst.allowed),
                      format::counted(worst.sizes, "size"));
  return words;
}

TrialCases::TrialCases(const Theme& theme, const std::vector<custom::TrialCase>& cases, QWidget* parent)
    : QWidget(parent), theme_(theme) {
  // The trial tells all of one device, then all of the next: here what was done with a case stands together.
  std::vector<std::pair<std::string, std::string>> order;  // body, sizes
  for (const custom::TrialCase& one : cases)
    if (std::ranges::find(order, std::pair(one.body, one.words)) == order.end())
      order.emplace_back(one.body, one.words);
  std::string body;
  for (const auto& [name, words] : order) {
    if (name != body) lines_.push_back({text(name), "", "a call", "difference", "", true});
    body = name;
    lines_.push_back({text(words)});
    for (const custom::TrialCase& one : cases) {
      if (one.body != name || one.words != words) continue;
      const bool compared = !one.against.empty();
      lines_.push_back({"", one.device == "CPU" ? QStringLiteral("CPU, 1 thread") : text(one.device),
                        format::time(one.us), compared ? format::distance(one.difference) : format::dash(),
                        compared ? "to " + text(one.against) : QString(), false, one.over(),
                        one.device != "CPU"});
    }
  }
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName("Times and differences");
  setAccessibleDescription(words().join("\n"));
}

QStringList TrialCases::words() const {
  QStringList words;
  for (const Line& line : lines_) {
    QStringList cells = {line.sizes, line.device, line.time, line.difference, line.to};
    cells.removeAll(QString());
    words += cells.join(" ");
  }
  return words;
}

QSize TrialCases::sizeHint() const {
  return {qRound(theme_.scaled(200)), qRound(theme_.scaled(kCaseLine) * static_cast<double>(lines_.size()))};
}

void TrialCases::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double height = theme_.scaled(kCaseLine), inset = theme_.scaled(10), timeEnd = width() * kTimeEnd;
  const QFont head = theme_.textFont(11, QFont::DemiBold), small = theme_.textFont(10.5),
              plain = theme_.textFont(11), mono = theme_.monoFont(11), sizes = theme_.monoFont(10.5);
  const auto right = [&](double end, double top, const QString& words, const QFont& font) {
    const double wide = textWidth(words, font);
    drawLabel(painter, QRectF(end - wide, top, wide + 1, height), Qt::AlignLeft, words, font);
  };
  double top = 0;
  for (const Line& line : lines_) {
    if (line.head) {
      painter.setPen(theme_(Token::text));
      const double room = timeEnd - textWidth(line.time, small) - inset;
      drawLabel(painter, QRectF(0, top, room, height), Qt::AlignLeft,
                QFontMetricsF(head).elidedText(line.sizes, Qt::ElideMiddle, room), head);
      painter.setPen(theme_(Token::text3));
      right(timeEnd, top, line.time, small);
      right(width(), top, line.difference, small);
      painter.setPen(theme_(Token::border));
      painter.drawLine(QPointF(0, top + height - 0.5), QPointF(width(), top + height - 0.5));
    } else if (!line.sizes.isEmpty()) {
      painter.setPen(theme_(Token::text2));
      drawLabel(painter, QRectF(0, top, width(), height), Qt::AlignLeft,
                QFontMetricsF(sizes).elidedText(line.sizes, Qt::ElideRight, width()), sizes);
    } else {
      const double wide = textWidth(line.time, mono) + inset;
      painter.setPen(theme_(line.card ? Token::cuda : Token::cpu));
      drawLabel(painter, QRectF(inset, top, timeEnd - wide - inset, height), Qt::AlignLeft,
                QFontMetricsF(plain).elidedText(line.device, Qt::ElideRight, timeEnd - wide - inset), plain);
      painter.setPen(theme_(Token::text));
      right(timeEnd, top, line.time, mono);
      painter.setPen(theme_(line.over ? Token::error : line.to.isEmpty() ? Token::text3 : Token::text));
      right(width(), top, line.difference, mono);
    }
    top += height;
  }
}

void TrialCases::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

OwnOpResults::OwnOpResults(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      title_(new Text(theme, {Token::text, 12.5, QFont::DemiBold}, "Trial", this)),
      scroll_(new GroundScroll(theme, Token::panel, this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(title_);
  column->addWidget(scroll_, 1);
  scroll_->column()->setContentsMargins(0, 0, 4, 4);
  setMinimumWidth(qRound(theme.scaled(kLeastResults)));
}

void OwnOpResults::say(const QString& words, Token token) {
  auto* paragraph = new Text(theme_, {token, 11.5}, words, shown_);
  paragraph->setWrap(true);
  shown_->layout()->addWidget(paragraph);
}

void OwnOpResults::showTrial(OwnOpDraft& draft) {
  const api::OwnOpReport& report = *draft.report;
  for (const custom::Check& check : report.checks)
    say((check.ok ? "\u2713 " : "\u2717 ") + text(check.text), check.ok ? Token::text : Token::error);
  if (draft.failedTrial())
    say("The op was not loaded into this window. Fix the text, then verify again.", Token::text2);
  for (const QString& words : trialSummary(report.cases)) say(words, Token::text2);
  if (!report.card.empty()) {
    const bool runs = std::ranges::find(report.devices, "cuda") != report.devices.end();
    say("Cards: " + text(report.card), draft.cuda() && !runs ? Token::warn : Token::text2);
  }
  if (!report.cases.empty()) {
    cases_ = new TrialCases(theme_, report.cases, shown_);
    shown_->layout()->addWidget(cases_);
  }
  if (!report.content.empty()) say("Content " + text(report.content), Token::text3);
}

void OwnOpResults::show(OwnOpDraft* draft) {
  delete shown_;
  cases_ = nullptr;
  shown_ = new QWidget(this);
  auto* column = new QVBoxLayout(shown_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  if (draft && draft->report && draft->reached != OwnOpStep::compile) {
    showTrial(*draft);
  } else {
    say("Verify runs it first in a process of its own: a crash or a loop there leaves this window as it is.",
        Token::text2);
    if (draft && draft->report && !draft->report->card.empty())
      say("Cards: " + text(draft->report->card), Token::warn);
  }
  say("Before you add it: " + QString::fromUtf8(custom::kRemainingRisk.data()), Token::warn);
  column->addStretch(1);
  scroll_->column()->addWidget(shown_);
}

QStringList OwnOpResults::words() const {
  QStringList words;
  if (!shown_) return words;
  for (const Text* one : shown_->findChildren<Text*>()) words += one->text();
  if (cases_) words += cases_->words();
  return words;
}

}  // namespace orrery::ui
