#include "ui/chat/chat_page.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPaintEvent>
#include <QPainter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/chat/context_full.h"
#include "ui/chat/prompt_dialog.h"
#include "ui/session/model_title.h"
#include "ui/session/model_use.h"
#include "ui/theme/format.h"
#include "ui/theme/icons.h"
#include "ui/widgets/ground_scroll.h"

namespace orrery::ui {
namespace {

constexpr const char* kUndo = "Undo";
constexpr int kAlternatives = 5;        // tokens shown in the popup
constexpr int kPopupBesideWidth = 520;  // narrower pages show the popup at the token

}  // namespace

ChatPage::ChatPage(const Theme& theme, SessionController* session, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      session_(session),
      banner_(new Banner(theme, this)),
      stack_(new QStackedWidget(this)),
      system_(new SystemLine(theme, this)),
      empty_(new GroundScroll(theme, Token::panel, this)),
      start_(new ChatStart(theme, this)),
      transcript_(new TranscriptView(theme, this)),
      input_(new ChatInput(theme, this)),
      popup_(new TokenPopup(theme, transcript_->viewport(), this)),
      sampling_(new SamplingPopover(theme, this)),
      corner_(new QWidget(this)) {
  setupCorner();
  setupLayout();
  setupTranscript();
  setupSystemLine();
  setupSession();
  takeModel();
}

void ChatPage::setupCorner() {
  auto* layout = new QHBoxLayout(corner_);
  layout->setContentsMargins(0, 0, 8, 0);
  layout->setSpacing(2);
  auto* fresh = new IconButton(theme_, "plus", "New chat", corner_);
  auto* options = new IconButton(theme_, "gear", "Sampling and system prompt", corner_);
  auto* more = new IconButton(theme_, "more", "More", corner_);
  for (IconButton* button : {fresh, options, more}) layout->addWidget(button);
  connect(fresh, &QAbstractButton::clicked, this, [this] {
    newChat();
    input_->setFocus();
  });
  connect(options, &QAbstractButton::clicked, this, [this, options] { sampling_->popupAt(options); });
  connect(more, &QAbstractButton::clicked, this,
          [this, more] { showMenu(-1, more->mapToGlobal(QPoint(0, more->height()))); });
}

void ChatPage::setupLayout() {
  empty_->setFocusPolicy(Qt::NoFocus);
  empty_->column()->addWidget(start_);
  stack_->addWidget(empty_);
  stack_->addWidget(transcript_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  auto* inset = new QVBoxLayout;
  inset->setContentsMargins(12, 8, 12, 0);
  inset->setSpacing(6);
  inset->addWidget(banner_);
  inset->addWidget(system_);
  layout->addLayout(inset);
  layout->addWidget(stack_, 1);
  auto* foot = new QVBoxLayout;
  foot->setContentsMargins(12, 4, 12, 10);
  foot->addWidget(input_);
  layout->addLayout(foot);
  setFocusProxy(input_);
}

void ChatPage::setupTranscript() {
  connect(start_, &ChatStart::suggested, this, &ChatPage::send);
  connect(input_, &ChatInput::sendAsked, this, &ChatPage::send);
  connect(input_, &ChatInput::stopAsked, this, &ChatPage::stop);
  connect(transcript_, &TranscriptView::tokenPointed, this, &ChatPage::showToken);
  connect(transcript_, &TranscriptView::menuAsked, this, &ChatPage::showMenu);
}

void ChatPage::setupSystemLine() {
  connect(system_, &QAbstractButton::clicked, this, [this] { sampling_->popupAtSystemPrompt(system_); });
  connect(system_, &SystemLine::clearAsked, this, &ChatPage::clearSystemPrompt);
  connect(sampling_, &SamplingPopover::changed, this,
          [this] { system_->setPrompt(sampling_->systemPrompt()); });
}

void ChatPage::setupSession() {
  connect(session_, &SessionController::opened, this, &ChatPage::takeModel);
  connect(session_, &SessionController::graphChanged, this, &ChatPage::takeSampling);
  connect(session_, &SessionController::tokensArrived, this, &ChatPage::takeTokens);
  connect(session_, &SessionController::replyFinished, this, &ChatPage::finish);
  connect(session_, &SessionController::vitalsChanged, this, &ChatPage::updateCounter);
  connect(session_, &SessionController::stateChanged, this, [this](RunState state) {
    input_->setRunning(state != RunState::idle);
    transcript_->setStreaming(state == RunState::prefill || state == RunState::decode);
  });
  connect(session_, &SessionController::replyFailed, this, [this](const UiError& error) {
    finish({});
    if (isContextFull(error)) return showContextFull(error);
    failure_ = error;
    banner_->showError(error);
  });
  connect(banner_, &Banner::actionChosen, this, &ChatPage::act);
}

void ChatPage::showContextFull(const UiError& error) {
  failure_ = contextFull(session_->session()->info(), error);
  banner_->showWarning(failure_.title, failure_.body(), failure_.actions);
}

/// What a button of the banner does.
void ChatPage::act(const QString& action) {
  if (const api::Offer* offer = offerOf(failure_, action)) return session_->accept(*offer);
  if (action == kUndo) return undo();
  if (action == kNewChat) newChat();
  if (action != kLeaveOutOldest) return;
  sampling_->setContextShift(true);
  regenerate();
}

void ChatPage::takeModel() {
  const SessionPtr session = session_->session();
  banner_->dismiss();
  const bool chats = session && writesText(session->info());
  const QString name = session ? shortTitle(session_->title()) : QString();
  if (!session) {
    start_->setState("No model is loaded", "Open a model file, or drop one on the window", false);
  } else if (chats) {
    start_->setState("Ask " + name + " something", "or type below; Enter sends", true);
  } else if (!runs(session->info())) {
    start_->setState(name + " can be looked at, not run", QString::fromStdString(session->info().cannot_run),
                     false);
  } else if (session->info().task == api::Task::tensors) {
    start_->setState(name + " is a graph of one's own",
                     "It reads no text: the page Values gives its inputs numbers and runs it", false);
  } else {
    start_->setState(name + " does not write text",
                     "It reads whole texts: use Classify, or open a chat model", false);
  }
  input_->setPlaceholder(chats ? "Message " + name : "Open a chat model to write to it");
  input_->setEnabled(chats);
  takeSampling();
  updateCounter();
  if (chats && hasConversation() && !session_->moved())
    banner_->showNotice(session_->title() + " reads the conversation when you go on");
  showOffer();
}

void ChatPage::takeSampling() {
  if (const SessionPtr session = session_->session())
    sampling_->setDrawn(api::drawn_sampling(*session->model_graph()));
}

void ChatPage::send(const QString& text) {
  if (!session_->session() || session_->running() || text.trimmed().isEmpty()) return;
  if (!writesText(session_->session()->info())) return;
  input_->setFocus();  // a question of the empty page goes, and the focus with it
  input_->clear();
  undoable_.clear();
  messages_.push_back({"user", text.toStdString()});
  transcript_->addMessage(TranscriptItem::Role::person, text);
  request();
}

std::vector<api::Message> ChatPage::wholeConversation() const {
  std::vector<api::Message> messages = messages_;
  if (const QString system = sampling_->systemPrompt(); !system.isEmpty())
    messages.insert(messages.begin(), {"system", system.toStdString()});
  return messages;
}

void ChatPage::showPrompt() {
  const SessionPtr session = session_->session();
  if (!session) return;
  std::vector<api::Message> messages = wholeConversation();
  if (const QString typed = input_->text().trimmed(); !typed.isEmpty())
    messages.push_back({"user", typed.toStdString()});
  auto* dialog = new PromptDialog(theme_, *session, messages, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->show();
}

void ChatPage::request() {
  banner_->dismiss();
  transcript_->addMessage(TranscriptItem::Role::model, {});
  showConversation();
  liveTokens_ = 0;
  liveMs_ = firstMs_ = 0;
  api::ChatRequest request;
  request.messages = wholeConversation();
  request.sampling = sampling_->sampling();
  request.max_tokens = sampling_->maximumTokens();
  request.context_shift = sampling_->contextShift();
  request.logprobs = kAlternatives;
  session_->chat(request);
}

void ChatPage::takeTokens(const TokenBatch& tokens) {
  for (const api::TokenEvent& token : tokens) {
    if (liveTokens_++ == 0) {
      firstMs_ = token.step_ms;
    } else {
      liveMs_ += token.step_ms;
    }
  }
  transcript_->appendTokens(tokens);
  transcript_->setLastFigures(liveFigures(liveTokens_, liveMs_, firstMs_, device()));
}

void ChatPage::finish(const api::ChatResult& result) {
  if (messages_.empty() || messages_.back().role != "user") return;
  const TranscriptItem& reply = transcript_->message(transcript_->messageCount() - 1);
  std::string text = result.text.empty() ? reply.text().toStdString() : result.text;
  messages_.push_back({"assistant", std::move(text)});
  emit conversationChanged();
  if (result.decode_ms > 0 || result.prefill_ms > 0) {
    transcript_->setLastFigures(replyFigures(result, liveTokens_, device()));
  } else {
    std::vector<Figure> figures = liveFigures(liveTokens_, liveMs_, firstMs_, device());
    figures.insert(figures.end() - 1, Figure{"stopped", Token::text2});
    transcript_->setLastFigures(std::move(figures));
  }
  transcript_->setStreaming(false);
  if (result.stop_reason == "context") showContextFull();
}

void ChatPage::showConversation() {
  stack_->setCurrentWidget(hasConversation() ? static_cast<QWidget*>(transcript_) : empty_);
  emit conversationChanged();
}

void ChatPage::newChat() {
  if (session_->running()) {
    session_->stop();
    finish({});  // with what is written by now
  }
  banner_->dismiss();
  session_->forgetContext();
  if (!hasConversation()) return;
  struct Kept {
    std::vector<api::Message> messages;
    std::vector<TranscriptItem> items;
  };
  const auto kept = std::make_shared<Kept>(Kept{std::exchange(messages_, {}), transcript_->take()});
  showConversation();
  offerUndo("A new chat has begun", [this, kept] {
    messages_ = std::move(kept->messages);
    transcript_->put(std::move(kept->items));
    showConversation();
  });
}

void ChatPage::clearSystemPrompt() {
  const QString prompt = sampling_->systemPrompt();
  sampling_->setSystemPrompt({});
  offerUndo("The system prompt is cleared", [this, prompt] { sampling_->setSystemPrompt(prompt); });
}

void ChatPage::offerUndo(const QString& done, std::function<void()> undo) {
  undoable_.emplace_back(done, std::move(undo));
  showOffer();
}

void ChatPage::showOffer() {
  if (!undoable_.empty()) banner_->showNotice(undoable_.back().first, {kUndo});
}

void ChatPage::undo() {
  banner_->dismiss();
  const auto last = std::move(undoable_.back());
  undoable_.pop_back();
  last.second();
  input_->setFocus();
  showOffer();
}

void ChatPage::stop() { session_->stop(); }

bool ChatPage::canRegenerate() const {
  return !session_->running() && messages_.size() >= 2 && messages_.back().role == "assistant";
}

void ChatPage::regenerate() {
  if (!canRegenerate()) return;
  messages_.pop_back();
  transcript_->removeLast();
  request();
}

void ChatPage::copyConversation() {
  QStringList lines;
  for (const api::Message& message : messages_)
    lines += (message.role == "user" ? "> " : "") + QString::fromStdString(message.content);
  QGuiApplication::clipboard()->setText(lines.join("\n\n"));
}

void ChatPage::showToken(const api::TokenEvent* token, int index, const QRectF& rect) {
  popup_->setVisible(token != nullptr);
  update();
  if (!token) return;
  popup_->setToken(*token, index);
  QPoint at(width() - popup_->width() - 12, stack_->y() + 7);
  const QRectF place = rect.translated(transcript_->mapTo(this, QPoint(0, 0)));
  if (width() < kPopupBesideWidth || place.right() > at.x() - 24) {
    const int above = static_cast<int>(place.top()) - popup_->height() - 4;
    const int below = static_cast<int>(place.bottom()) + 4;
    at = QPoint(std::clamp(static_cast<int>(place.left()), 4, std::max(4, width() - popup_->width() - 4)),
                above >= 0 ? above : std::min(below, height() - popup_->height()));
  }
  popup_->move(at);
  popup_->raise();
}

void ChatPage::showMenu(int message, const QPoint& position) {
  QMenu menu;
  if (message >= 0) {
    const auto index = static_cast<size_t>(message);
    if (!transcript_->selectedText().isEmpty())
      menu.addAction("Copy selection", transcript_, &TranscriptView::copySelection);
    menu.addAction("Copy message", this, [this, index] {
      QGuiApplication::clipboard()->setText(transcript_->message(index).text());
    });
  }
  QAction* again = menu.addAction("Regenerate", QKeySequence("Ctrl+Return"), this, &ChatPage::regenerate);
  again->setEnabled(canRegenerate());
  menu.addAction("Copy conversation", this, &ChatPage::copyConversation)->setEnabled(!messages_.empty());
  menu.addAction("Rendered prompt...", this, &ChatPage::showPrompt)
      ->setEnabled(session_->session() && writesText(session_->session()->info()));
  menu.addAction("New chat", QKeySequence::New, this, &ChatPage::newChat);
  menu.exec(position);
}

void ChatPage::updateCounter() {
  const SessionPtr session = session_->session();
  if (!session || !writesText(session->info())) return input_->setCounter({});
  const int64_t limit =
      session->info().memory.context > 0 ? session->info().memory.context : session->info().context_length;
  input_->setCounter(format::count(session_->vitals().contextUsed) + " / " + format::count(limit) +
                     " tokens");
}

QString ChatPage::device() const {
  return session_->session() ? deviceName(session_->session()->options().device) : QString();
}

void ChatPage::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void ChatPage::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_(Token::panel));
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
}

}  // namespace orrery::ui
