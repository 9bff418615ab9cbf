// The conversation with the loaded model. Wires the transcript, the input and the sampling options to the
// session.
#pragma once

#include <QWidget>
#include <functional>

#include "ui/chat/chat_input.h"
#include "ui/chat/chat_start.h"
#include "ui/chat/sampling_popover.h"
#include "ui/chat/system_line.h"
#include "ui/chat/token_popup.h"
#include "ui/chat/transcript_view.h"
#include "ui/session/session_controller.h"
#include "ui/widgets/banner.h"

class QStackedWidget;

namespace orrery::ui {

class GroundScroll;

class ChatPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  ChatPage(const Theme& theme, SessionController* session, QWidget* parent = nullptr);

  void send(const QString& text);
  /// The last conversation can be brought back until the first message of the new one.
  void newChat();
  bool hasConversation() const { return !messages_.empty(); }
  void regenerate();
  void stop();
  void copyConversation();
  /// The text that the model reads for the conversation and what is typed.
  void showPrompt();
  bool canRegenerate() const;
  /// Buttons for the dock's title: new chat, sampling, more.
  QWidget* corner() const { return corner_; }
  TranscriptView* transcript() const { return transcript_; }
  ChatInput* input() const { return input_; }
  SamplingPopover* sampling() const { return sampling_; }
  SystemLine* systemLine() const { return system_; }
  TokenPopup* popup() const { return popup_; }
  Banner* banner() const { return banner_; }
  void setTheme(const Theme& theme) override;

 signals:
  void conversationChanged();  // a message more or less

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void setupCorner();
  void setupLayout();
  void setupSession();
  void setupTranscript();
  void setupSystemLine();
  void request();
  void showConversation();
  void clearSystemPrompt();
  void offerUndo(const QString& done, std::function<void()> undo);
  void showOffer();
  void undo();
  std::vector<api::Message> wholeConversation() const;  // with the system prompt
  void takeModel();
  void takeSampling();
  void takeTokens(const TokenBatch& tokens);
  void finish(const api::ChatResult& result);
  void showContextFull(const UiError& error = {});
  void act(const QString& action);
  void showToken(const api::TokenEvent* token, int index, const QRectF& rect);
  void showMenu(int message, const QPoint& position);
  void updateCounter();
  QString device() const;

  Theme theme_;
  SessionController* session_;
  Banner* banner_;
  QStackedWidget* stack_;
  SystemLine* system_;
  GroundScroll* empty_;  // around start_
  ChatStart* start_;
  TranscriptView* transcript_;
  ChatInput* input_;
  TokenPopup* popup_;
  SamplingPopover* sampling_;
  QWidget* corner_;
  UiError failure_;                     // that the banner shows
  std::vector<api::Message> messages_;  // without the system prompt
  /// What the person did that the next message makes final: what it is called, and what takes it back.
  std::vector<std::pair<QString, std::function<void()>>> undoable_;
  size_t liveTokens_ = 0;
  double liveMs_ = 0, firstMs_ = 0;
};

}  // namespace orrery::ui
