// "Which tokens it follows from": a text, a target, and the score of each token of the text. The text is what
// the drawn model read last, until the person types another.
#pragma once

#include <QPlainTextEdit>

#include "ui/session/attribution_controller.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/search_field.h"
#include "ui/widgets/section.h"
#include "ui/widgets/token_spans.h"

namespace orrery::ui {

/// Each on the colour of its side, the stronger the larger its score is beside the largest.
std::vector<TokenSpan> scoredSpans(const std::vector<api::TokenScore>& tokens);
/// token,id,score
QString csvOf(const std::vector<api::TokenScore>& tokens);

class AttributionSection : public Section {
  Q_OBJECT
 public:
  AttributionSection(const Theme& theme, AttributionController* attributions, QWidget* parent = nullptr);

  QPlainTextEdit* text() const { return text_; }
  SearchField* target() const { return target_; }
  Button* computeButton() const { return compute_; }
  Button* copyButton() const { return copy_; }
  TokenSpans* spans() const { return spans_; }
  Text* message() const { return message_; }
  Text* figures() const { return figures_; }
  /// That the result is of another text, target or graph; hidden where it is of what is there.
  Text* outdated() const { return outdated_; }

 private:
  void connectSource();
  void takeText();
  void ask();
  void refresh();
  void showResult();
  void showOutdated();

  AttributionController* attributions_;
  SessionController* source_ = nullptr;
  QPlainTextEdit* text_;
  SearchField* target_;
  Button *compute_, *copy_;
  Text *message_, *figures_, *outdated_, *legend_;
  TokenSpans* spans_;
  QString taken_;  // what was put into the field
};

}  // namespace orrery::ui
