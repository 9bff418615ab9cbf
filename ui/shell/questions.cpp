#include "ui/shell/questions.h"

#include <algorithm>

#include "ui/frame/workspace.h"
#include "ui/theme/format.h"
#include "ui/widgets/banner.h"

namespace orrery::ui {
namespace {

QString editsOf(const SessionController& source) {
  return format::counted(static_cast<qint64>(source.recipe().size()), "edit") + " of " + source.title();
}

/// Of a graph of one's own: it is saved whole.
bool own(const SessionController& source) {
  return source.session() && source.session()->info().task == api::Task::tensors;
}

/// "2 edits of chat and the conversation are not saved"
QString notSaved(const QStringList& things, bool several) {
  QString text = things.join(" and ") + (several ? " are" : " is") + " not saved";
  text[0] = text[0].toUpper();
  return text;
}

}  // namespace

Questions::Questions(Workspace& work, Banner* banner, std::function<bool(SessionController*)> save,
                     QObject* parent)
    : QObject(parent), work_(work), banner_(banner), save_(std::move(save)) {
  connect(banner_, &Banner::actionChosen, this, &Questions::answer);
}

void Questions::ask(const QString& title, const QString& body, const Answers& answers) {
  answers_ = answers;
  QStringList texts;
  for (const auto& [text, run] : answers) texts += text;
  banner_->ask(title, body, texts);
}

/// What a button of the banner does.
void Questions::answer(const QString& action) {
  const Answers answers = std::exchange(answers_, {});
  const auto chosen =
      std::find_if(answers.begin(), answers.end(), [&](const auto& a) { return a.first == action; });
  if (chosen == answers.end()) return emit work_.fileAsked();  // the only other one: "Open another"
  banner_->dismiss();
  if (chosen->second) chosen->second();
}

void Questions::unlessLost(SessionController* source, const QString& name,
                           const std::function<void()>& open) {
  if (!source->unsaved()) return open();
  ask(notSaved({editsOf(*source)}, source->recipe().size() > 1),
      (own(*source) ? "Save the graph, or open " : "Save them as a recipe, or open ") + name +
          " without them.",
      {{"Save and open",
        [this, source, open] {
          if (save_(source)) open();
        }},
       {"Open without saving", open},
       {"Cancel", nullptr}});
}

bool Questions::mayQuit(const std::vector<Unsaved>& unsaved, const std::function<void()>& quit) {
  std::vector<SessionController*> edited;
  QStringList things;
  for (SessionController* source : {work_.session(), work_.classifier()}) {
    if (!source->unsaved()) continue;
    edited.push_back(source);
    things += editsOf(*source);
  }
  QStringList advice;
  if (!edited.empty())
    advice += own(*edited.front()) ? "The graph can be saved as a file." : "Edits can be saved as a recipe.";
  for (const Unsaved& each : unsaved) {
    things += each.what;
    advice += each.advice;
  }
  if (things.isEmpty()) return true;
  const bool several = things.size() > 1 || (!edited.empty() && edited.front()->recipe().size() > 1);
  Answers answers;
  if (!edited.empty())
    answers.push_back({"Save the edits and quit", [this, edited, quit] {
                         for (SessionController* source : edited)
                           if (!save_(source)) return;
                         quit();
                       }});
  answers.push_back({"Quit without saving", quit});
  answers.push_back({"Stay", nullptr});
  ask(notSaved(things, several), advice.join(" "), answers);
  return false;
}

}  // namespace orrery::ui
