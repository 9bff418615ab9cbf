// What the window asks before something is lost. Questions are banners over the graph, whose answers are
// buttons.
#pragma once

#include <QObject>
#include <functional>
#include <vector>

#include "ui/frame/page.h"

namespace orrery::ui {

class Banner;

class Questions : public QObject {
  Q_OBJECT
 public:
  /// `save`: asks for a file and saves the edits of a model; whether it did.
  Questions(Workspace& work, Banner* banner, std::function<bool(SessionController*)> save,
            QObject* parent = nullptr);

  using Answers = std::vector<std::pair<QString, std::function<void()>>>;  // button texts, what they do
  void ask(const QString& title, const QString& body, const Answers& answers);
  /// Does it at once where `source` has no edits that would be lost.
  void unlessLost(SessionController* source, const QString& name, const std::function<void()>& open);
  /// False where there is something to lose: then it is asked about, and `quit` done if it may be lost.
  /// `unsaved`: what else would be.
  bool mayQuit(const std::vector<Unsaved>& unsaved, const std::function<void()>& quit);

 private:
  void answer(const QString& action);

  Workspace& work_;
  Banner* banner_;
  std::function<bool(SessionController*)> save_;
  Answers answers_;  // of the question that is asked
};

}  // namespace orrery::ui
