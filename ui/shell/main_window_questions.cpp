// What the window asks before something is lost, and what it says of what cannot be done. Questions are
// banners over the graph, whose answers are buttons.
#include "ui/shell/main_window.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

QString editsOf(const SessionController& source) {
  return format::counted(static_cast<qint64>(source.recipe().size()), "edit") + " of " + source.title();
}

/// "2 edits of chat and the conversation are not saved"
QString notSaved(const QStringList& things, bool several) {
  QString text = things.join(" and ") + (several ? " are" : " is") + " not saved";
  text[0] = text[0].toUpper();
  return text;
}

}  // namespace

void MainWindow::ask(const QString& title, const QString& body, const Answers& answers) {
  answers_ = answers;
  QStringList texts;
  for (const auto& [text, run] : answers) texts += text;
  graph_->banner()->ask(title, body, texts);
}

/// What a button of the banner does.
void MainWindow::answer(const QString& action) {
  const Answers answers = std::exchange(answers_, {});
  const auto chosen =
      std::find_if(answers.begin(), answers.end(), [&](const auto& a) { return a.first == action; });
  if (chosen == answers.end()) return askOpen();  // the only other one: "Open another"
  graph_->banner()->dismiss();
  if (chosen->second) chosen->second();
}

/// Does it at once where `source` has no edits that would be lost.
void MainWindow::unlessLost(SessionController* source, const QString& name,
                            const std::function<void()>& open) {
  if (!source->unsaved()) return open();
  ask(notSaved({editsOf(*source)}, source->recipe().size() > 1),
      "Save them as a recipe, or open " + name + " without them.",
      {{"Save and open",
        [this, source, open] {
          if (askSaveRecipe(source)) open();
        }},
       {"Open without saving", open},
       {"Cancel", nullptr}});
}

/// False where there is something to lose: then it is asked about.
bool MainWindow::mayQuit() {
  std::vector<SessionController*> unsaved;
  QStringList things;
  for (SessionController* source : {session_, classifier_}) {
    if (!source->unsaved()) continue;
    unsaved.push_back(source);
    things += editsOf(*source);
  }
  const bool several = things.size() > 1 || (things.size() == 1 && unsaved.front()->recipe().size() > 1);
  const bool chat = chat_->hasConversation();
  if (chat) things += "the conversation";
  if (things.isEmpty()) return true;
  const std::function<void()> quit = [this] {
    quitting_ = true;
    close();
  };
  Answers answers;
  if (!unsaved.empty())
    answers.push_back({"Save the edits and quit", [this, unsaved, quit] {
                         for (SessionController* source : unsaved)
                           if (!askSaveRecipe(source)) return;
                         quit();
                       }});
  answers.push_back({"Quit without saving", quit});
  answers.push_back({"Stay", nullptr});
  ask(notSaved(things, several || (chat && !unsaved.empty())),
      QString(unsaved.empty() ? "" : "Edits can be saved as a recipe. ") +
          (chat ? "The conversation is gone once the window closes; its menu (...) copies it." : ""),
      answers);
  return false;
}

/// There is no edit that deletes; the nearest one is offered.
void MainWindow::refuseDelete() {
  const std::vector<GraphView::Selected> chosen = graph_->view()->selection();
  if (chosen.empty()) return graph_->banner()->showNotice("Choose a node or a group first");
  const std::vector<BypassChoice> choices = graph_->bypasses(chosen);
  const auto choice = std::find_if(choices.begin(), choices.end(), [](const BypassChoice& one) {
    return !one.restores && one.refusal.isEmpty();
  });
  if (choice == choices.end())
    return graph_->banner()->showWarning(
        "Nodes cannot be deleted",
        "Groups with one stream in and the same stream out, such as layers, can be bypassed instead.");
  ask("Nodes cannot be deleted",
      "Bypass leaves " + choice->name +
          " out of what runs: what enters it also leaves it. Restore brings it back.",
      {{choice->words(), [this, scopes = choice->scopes] { applyEdit("bypass", scopes); }},
       {"Cancel", nullptr}});
}

}  // namespace orrery::ui
