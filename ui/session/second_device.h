// "Both": the model that is talked to, opened on a second device beside its own. Every message runs on both
// at once; what the second one says and takes comes as values, told apart as side A (the CPU, or the first of
// two devices) and B. Follows the first: its models, its edits, its stop.
#pragma once

#include <QObject>
#include <QTimer>
#include <optional>

#include "ui/session/comparison.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

class SecondDevice : public QObject {
  Q_OBJECT
 public:
  SecondDevice(SessionController* home, const Services& services, QObject* parent = nullptr);
  ~SecondDevice() override;

  /// `device` beside the CPU: the model is opened on whichever of the two it is not on, now and with every
  /// model that the first one opens.
  void open(const std::string& device);
  /// Its memory is given back.
  void close();
  bool wanted() const { return !device_.empty(); }
  /// Open: the next message runs on both.
  bool ready() const { return second_->session() != nullptr; }
  bool running() const { return second_->running(); }
  SessionController* second() const { return second_; }
  /// Where the second one is, or would be.
  std::string place() const;
  /// Of the devices in use: "cpu" and "cuda:0".
  std::array<std::string, 2> devices() const { return {"cpu", device_}; }
  SideLooks sides() const;

 signals:
  void changed();  // wanted, ready or neither any more
  void failed(const orrery::ui::UiError& error);
  void began(const orrery::ui::SideLooks& sides);
  void prefilled(orrery::api::Side side, const orrery::api::PrefillEvent& event);
  void tokensArrived(orrery::api::Side side, const orrery::ui::TokenBatch& tokens);
  void replyFinished(orrery::api::Side side, const orrery::api::ChatResult& result);
  /// The times of both sides so far, at most once a second; with the replies when both are done.
  void measured(const orrery::ui::Comparison& comparison);

 private:
  api::Side homeSide() const;
  api::Side otherSide() const { return homeSide() == api::Side::a ? api::Side::b : api::Side::a; }
  SessionController* at(api::Side side) const { return side == homeSide() ? home_ : second_; }
  void setupHome();
  void setupSecond();
  void openBeside();
  void begin(const api::ChatRequest& request);
  void follow(const api::EditRecord& record, EditKind kind);
  void finish(api::Side side, const api::ChatResult& result);
  void measure();

  SessionController *home_, *second_;
  std::string device_;                    // empty: off
  std::optional<api::ChatRequest> next_;  // asked while the second still answers the last one
  std::optional<api::ChatResult> replies_[2];
  size_t followed_ = 0;    // edits of the first that the second has, or was told of
  bool together_ = false;  // the message under way runs on both
  QTimer measureSoon_;
};

}  // namespace orrery::ui

Q_DECLARE_METATYPE(orrery::ui::SideLooks)
