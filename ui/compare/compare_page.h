// The same text through two settings, side by side and live: replies, times of every node, and where the
// numbers part.
#pragma once

#include <QCheckBox>
#include <QTemporaryFile>
#include <QWidget>
#include <map>
#include <memory>

#include "ui/compare/compare_card.h"
#include "ui/compare/compare_settings.h"
#include "ui/compare/compare_table.h"
#include "ui/compare/compare_tile.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/search_field.h"

namespace orrery::ui {

class ComparePage : public QWidget, public Themed {
  Q_OBJECT
 public:
  ComparePage(const Theme& theme, SessionController* session, CompareController* controller,
              QWidget* parent = nullptr);

  /// Offers the devices that can be used; the first CUDA device becomes B. A run that was asked for before
  /// starts now.
  void setDevices(const Devices& devices);
  void choose(api::Side side, int setting);
  const std::vector<CompareSetting>& settings() const { return settings_; }
  QString settingTitle(api::Side side) const;
  SideLooks chosenLooks() const;
  /// Runs what is chosen now; waits where the devices are not listed yet.
  void compare();
  bool waiting() const { return waiting_; }
  /// A message that runs on both devices elsewhere: the cards show it, then setLive() its times.
  void beginLive(const std::array<std::string, 2>& devices);
  void setLive(const Comparison& comparison);
  void stop();

  CompareController* controller() const { return controller_; }
  SearchField* field() const { return field_; }
  Button* runButton() const { return run_; }
  /// Whether values of A are put into B as well.
  QCheckBox* patchBox() const { return patch_; }
  /// Into every node, instead of those of the stream.
  QCheckBox* everyNodeBox() const { return everyNode_; }
  /// Another file of the model, as a setting that a side can have.
  void addFile(const QString& path);
  CompareCard* card(api::Side side) const { return cards_[side == api::Side::b]; }
  CompareNodesModel* nodes() const { return nodes_; }
  Banner* banner() const { return banner_; }
  /// Text, KL divergence, top-1 agreement, first node that differs.
  CompareTile* tile(int index) const { return tiles_[index]; }
  ComparePtr result() const { return result_; }
  /// The result is of other settings than those that are chosen.
  bool stale() const { return stale_; }
  void setTheme(const Theme& theme) override;

 signals:
  /// A node of the table, by its path.
  void nodeAsked(const QString& path);
  /// What may be shown elsewhere; without a result when there is none or it is stale.
  void comparisonChanged(const orrery::ui::Comparison& comparison);
  /// Which parts make the difference; without values when nothing was put into B.
  void partsChanged(const orrery::ui::ScopeValues& parts);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void setupLayout();
  void setupController();
  void refreshSettings();
  void refreshChoices();
  void refreshStale();
  void begin();
  void forgetResult();
  void takeModel();
  void finish(const ComparePtr& result);
  void showTiles(const api::CompareResult& result);
  void showTotals();
  QString recipeFile();
  std::string typeFile(const std::string& type);
  void askFile(api::Side side);
  void showParts();
  api::OpenOptions optionsOf(api::Side side) const;

  Theme theme_;
  SessionController* session_;
  CompareController* controller_;
  Banner* banner_;
  SearchField* field_;
  QCheckBox *patch_, *everyNode_;
  Button* run_;
  Text* stage_;
  CompareCard* cards_[2];
  CompareTile* tiles_[4];
  CompareNodesModel* nodes_;
  CompareTable* table_;
  Devices devices_;
  std::vector<CompareSetting> settings_;
  int chosen_[2] = {0, 1};
  bool personal_[2] = {false, false};  // the person chose this side
  bool devicesListed_, waiting_ = false, stale_ = false;
  QString ranKeys_[2];  // of the last run
  SideLooks ranSides_;
  ComparePtr result_;
  std::unique_ptr<QTemporaryFile> recipe_;
  QString recipePath_;
  QStringList files_;
  std::map<std::string, std::unique_ptr<QTemporaryFile>> typeFiles_;
  bool partsShown_ = false;
};

}  // namespace orrery::ui
