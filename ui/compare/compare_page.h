// The same text through two settings, side by side and live: replies, times of every node, and where the
// numbers part.
#pragma once

#include <QTableView>
#include <QTemporaryFile>
#include <QWidget>

#include "ui/compare/compare_card.h"
#include "ui/compare/compare_nodes_model.h"
#include "ui/compare/compare_tile.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/search_field.h"

namespace orrery::ui {

/// What a side can run on. `change` makes of the model's plain options this setting's.
struct CompareSetting {
  QString title;
  bool device = false;  // not the CPU
  std::function<void(api::OpenOptions&)> change;
};

class ComparePage : public QWidget, public Themed {
  Q_OBJECT
 public:
  ComparePage(const Theme& theme, SessionController* session, CompareController* controller,
              QWidget* parent = nullptr);

  /// Offers the devices that can be used; the first becomes B.
  void setDevices(const Devices& devices);
  void choose(api::Side side, int setting);
  const std::vector<CompareSetting>& settings() const { return settings_; }
  QString settingTitle(api::Side side) const;
  bool onDevice(api::Side side) const;
  void compare();
  void stop() { controller_->stop(); }
  void focusInput() { field_->setFocus(); }

  CompareController* controller() const { return controller_; }
  SearchField* field() const { return field_; }
  Button* runButton() const { return run_; }
  CompareCard* card(api::Side side) const { return cards_[side == api::Side::b]; }
  CompareNodesModel* nodes() const { return nodes_; }
  Banner* banner() const { return banner_; }
  /// Text, KL divergence, top-1 agreement, first node that differs.
  CompareTile* tile(int index) const { return tiles_[index]; }
  ComparePtr result() const { return result_; }
  void setTheme(const Theme& theme) override;

 signals:
  void nodeAsked(orrery::NodeId node);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void setupTable();
  void setupLayout();
  void setupController();
  void refreshSettings();
  void takeModel();
  void finish(const ComparePtr& result);
  void showTiles(const api::CompareResult& result);
  QString recipeFile();
  api::OpenOptions optionsOf(api::Side side) const;

  Theme theme_;
  SessionController* session_;
  CompareController* controller_;
  Banner* banner_;
  SearchField* field_;
  Button* run_;
  Text* stage_;
  CompareCard* cards_[2];
  CompareTile* tiles_[4];
  CompareNodesModel* nodes_;
  QTableView* table_;
  Devices devices_;
  std::vector<CompareSetting> settings_;
  int chosen_[2] = {0, 1};
  bool personal_[2] = {false, false};  // the person chose this side
  ComparePtr result_;
  std::unique_ptr<QTemporaryFile> recipe_;
  QString recipePath_;
};

}  // namespace orrery::ui
