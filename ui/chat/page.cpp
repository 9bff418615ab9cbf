#include "ui/chat/page.h"

#include "ui/chat/chat_page.h"
#include "ui/frame/workspace.h"
#include "ui/session/graph_controller.h"
#include "ui/session/lab_controller.h"
#include "ui/session/model_use.h"

namespace orrery::ui {
namespace {

bool runsKernels(const Workspace& work) {
  return work.front() == "lab" && work.labs()->isShown() && work.labs()->refusal().isEmpty();
}

void runOrRepeat(Workspace& work, ChatPage* page) {
  if (runsKernels(work)) return work.labs()->run();
  if (work.graphs()->own()) {
    emit work.pageAsked("values");
    return work.graphs()->run();
  }
  if (const QString text = page->input()->text().trimmed(); !text.isEmpty()) return page->send(text);
  if (page->canRegenerate()) return page->regenerate();
  emit work.pageAsked("chat");
}

bool chats(const Workspace& work) {
  const SessionPtr session = work.session()->session();
  return session && writesText(session->info());
}

CommandList commands(Workspace& work, ChatPage* page) {
  return {
      {.id = "chat.run",
       .text = "&Run",
       .menu = Menu::run,
       .keys = {"F5"},
       .icon = "play",
       .title = "Run: send the text, the last reply again, a graph of one's own or a kernel",
       .run = [&work, page] { runOrRepeat(work, page); },
       .enabled =
           [&work] { return (chats(work) || work.graphs()->own() || runsKernels(work)) && !work.running(); }},
      {.id = "chat.new",
       .text = "&New chat",
       .menu = Menu::run,
       .group = 1,
       .keys = {"Ctrl+N"},
       .icon = "plus",
       .run =
           [&work, page] {
             emit work.pageAsked("chat");
             page->newChat();
           }},
      {.id = "chat.regenerate",
       .text = "Re&generate",
       .menu = Menu::run,
       .group = 1,
       .keys = {"Ctrl+Return"},
       .icon = "refresh",
       .run = [page] { page->regenerate(); },
       .enabled = [page] { return page->canRegenerate(); }}};
}

Unsaved unsaved(const ChatPage& page) {
  if (!page.hasConversation()) return {};
  return {"the conversation", "The conversation is gone once the window closes; its menu (...) copies it."};
}

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new ChatPage(work.theme(), work.session(), parent);
  page->sampling()->setSystemPrompt(work.settings().systemPrompt);
  page->sampling()->setContextShift(work.settings().contextShift);
  QObject::connect(&work, &Workspace::settingsAsked, page, [&work, page] {
    work.settings().systemPrompt = page->sampling()->systemPrompt();
    work.settings().contextShift = page->sampling()->contextShift();
  });
  QObject::connect(page, &ChatPage::conversationChanged, &work, &Workspace::changed);
  QObject::connect(work.session(), &SessionController::chatStarted, &work,
                   [&work] { emit work.drawAsked(work.session()); });
  return {.body = page,
          .corner = page->corner(),
          .source = work.session(),
          .commands = commands(work, page),
          .unsaved = [page] { return unsaved(*page); }};
}

}  // namespace

Page chatPage() { return {"chat", "&Chat", Qt::BottomDockWidgetArea, {816, 296}, make}; }

}  // namespace orrery::ui
