// What the pages of a window share: its sessions and settings, what is drawn and chosen, and what one page
// asks for that others or the window do. A page knows this and no other page.
#pragma once

#include <QObject>
#include <memory>

#include "ui/frame/settings.h"
#include "ui/session/comparison.h"
#include "ui/session/scope_values.h"
#include "ui/session/session_controller.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

class AttributionController;
class CompareController;
class DepthController;
class DiffController;
class EditPreviews;
class GraphController;
class LabController;
class MemoryEstimates;
class OwnOpController;
class PlaceMenu;
class PrecisionMenu;
class RecipeShelf;
class SecondDevice;
class SweepController;
class TraceSaver;

/// A model as the library offers it.
struct ListedModel {
  QString name, detail, path, adapter, title;
};
using ListedModels = std::vector<ListedModel>;

class Workspace : public QObject {
  Q_OBJECT
 public:
  /// `options`: of every model that is opened here.
  Workspace(const Theme& theme, const Services& services, const WindowSettings& settings,
            const api::OpenOptions& options, QObject* parent = nullptr);
  /// Stops and joins what the sessions do; pages may go after it, and hear nothing more.
  ~Workspace() override;

  /// For what is made from now on; what is there hears of another theme by propagateTheme().
  const Theme& theme() const { return theme_; }
  void setTheme(const Theme& theme) { theme_ = theme; }
  const Services& services() const { return services_; }
  WindowSettings& settings() { return settings_; }
  const WindowSettings& settings() const { return settings_; }
  SessionController* session() const { return session_; }        // the model that is talked to
  SessionController* classifier() const { return classifier_; }  // loaded at its first use
  CompareController* comparison() const { return comparison_; }
  SecondDevice* both() const { return both_; }
  SweepController* sweeps() const { return sweeps_; }
  DepthController* depths() const { return depths_; }
  /// Of the model that is drawn.
  AttributionController* attributions() const { return attributions_; }
  DiffController* diffs() const { return diffs_; }
  GraphController* graphs() const { return graphs_; }
  LabController* labs() const { return labs_; }
  OwnOpController* ownOps() const { return ownOps_; }
  MemoryEstimates* estimates() const { return estimates_; }
  PlaceMenu* places() const { return places_; }
  PrecisionMenu* precisions() const { return precisions_; }
  /// Those of the models that the library lists.
  RecipeShelf* recipes() const { return recipes_; }
  TraceSaver* traces() const { return traces_; }
  /// Of the edits that are considered, of the model that is drawn.
  EditPreviews* previews() const { return previews_; }

  /// Whose graph is drawn.
  SessionController* drawn() const { return drawn_; }
  void draw(SessionController* source);
  /// The fused graph is shown, not the model's.
  bool fused() const { return fused_; }
  void setFused(bool fused) { fused_ = fused; }
  /// The page that is in front of those that people turn to.
  const QString& front() const { return front_; }
  api::Phase phase() const;
  void setPhase(api::Phase phase) { phase_ = phase; }
  /// Where a node of either graph of the model that is talked to stands in its model graph, of a fused node
  /// its first origin; empty: another model is drawn, or it has no such node.
  QString pathInModel(NodeId node, bool fused) const;
  /// What is shown in graph, outline and inspector; none: the drawn model's own figures are.
  const Comparison& compared() const { return compared_; }
  void setCompared(const Comparison& comparison) { compared_ = comparison; }
  /// Every node is measured.
  bool profiled() const { return profiled_; }
  void setProfiled(bool profiled);
  /// Whether operations are fused, as last chosen.
  bool fuses() const { return fusion_; }
  void setFusion(bool fusion);
  /// Of every model that is opened here.
  const api::OpenOptions& options() const { return options_; }
  void setDevice(const std::string& device) { options_.device = device; }
  /// Something runs, wherever.
  bool running() const;
  void stop();

  /// Edits of the drawn model. `word`: the device of place, the dtype of precision.
  void edit(const QString& verb, const QString& scopes, const QString& word = {});
  /// One gesture on the drawing, undone as one.
  void editByHand(const std::vector<edit::Edit>& edits, const QString& name) {
    drawn_->applyByHand(edits, name);
  }
  void restore(const QString& scopes) { drawn_->restore(scopes); }
  void undo() { drawn_->undo(); }
  void redo() { drawn_->redo(); }

 signals:
  // What is, told to whom it concerns.
  /// Of what commands and the status line say.
  void changed();
  /// Four times a second, which is as fast as a person reads numbers.
  void ticked();
  void sourceChanged(orrery::ui::SessionController* drawn);
  /// Another graph is shown, or the same one edited.
  void graphShown();
  void phaseChanged(orrery::api::Phase phase);
  void comparisonChanged(const orrery::ui::Comparison& comparison);
  /// An op of one's own was added to the registry, or taken out of it.
  void opsChanged();
  /// Figures of the drawn model in the phase shown.
  void profileChanged();
  void nodeChosen(orrery::NodeId node, bool fused);
  void scopeChosen(const QString& scope, bool fused);
  void choiceCleared();
  void turnedTo(const QString& page);
  void devicesListed(const orrery::ui::Devices& devices, const QString& refusal);
  void modelsListed(const orrery::ui::ListedModels& models);
  void recentChanged(const QStringList& models);
  void subtitleChanged(const QString& page, const QString& words);
  /// The window closes: what is remembered goes into settings().
  void settingsAsked();
  /// Edits of the drawn model that would be made now: while a wire hangs over a port, an op of the palette or
  /// an entry of a menu is chosen. Until they are made, or left.
  void editConsidered(const std::vector<orrery::edit::Edit>& edits);
  void editLeft();

  // What a page asks for.
  void openAsked(const QString& path, const QString& adapter, const QString& title);
  void newGraphAsked();
  void optionsAsked(const QString& path, const QString& adapter, const QString& title);
  void fileAsked();
  void metadataAsked(const QString& path);
  /// Once edits that would be lost have been asked about, classifierChosen is told.
  void classifierAsked(const orrery::api::OpenOptions& options, const QString& name);
  void classifierChosen(const orrery::api::OpenOptions& options, const QString& name);
  void tableAsked(const QString& path);
  void pageAsked(const QString& page);
  void drawAsked(orrery::ui::SessionController* source);
  void nodeAsked(orrery::NodeId node, bool fused);
  void opAsked(const QString& op);         // a node of it, put down on the drawing
  void targetAsked(const QString& scope);  // what an edit was done to, in the model graph
  void pathAsked(const QString& path);     // the node of that path, in whatever graph is shown
  /// A recipe's file, for the model of the chat, or where `model` is not empty with that one anew.
  void recipeAsked(const QString& recipe, const QString& model, const QString& adapter, const QString& title);
  /// To be saved under a name that the person gives.
  void recipeSaveAsked(const std::vector<orrery::edit::Edit>& recipe);
  void compareAsked(const orrery::ui::Comparison& comparison);
  /// What colours the graph; without values it is coloured as before.
  void scopesMeasured(const orrery::ui::ScopeValues& values);
  /// Nodes of the fused graph that are lit, and in the model graph what they compute; none: nothing is.
  void nodesLit(const std::vector<orrery::NodeId>& fused);
  void failed(const orrery::ui::UiError& error);
  void noticed(const QString& words);

 private:
  void watch(SessionController* source);
  void takeDevices(const Devices& devices);
  void pollDevices();

  Theme theme_;
  WindowSettings settings_;
  api::OpenOptions options_;
  TraceSaver* traces_;
  Services services_;  // watched by traces_
  SessionController *session_, *classifier_;
  CompareController* comparison_;
  SecondDevice* both_;
  SweepController* sweeps_;
  DepthController* depths_;
  AttributionController* attributions_;
  DiffController* diffs_;
  GraphController* graphs_;  // of the model that is talked to, where it is one's own
  LabController* labs_;
  OwnOpController* ownOps_;
  MemoryEstimates* estimates_;
  PlaceMenu* places_;
  PrecisionMenu* precisions_;
  EditPreviews* previews_;
  RecipeShelf* recipes_;
  SessionController* drawn_;
  bool fused_ = true, profiled_ = true, fusion_;
  api::Phase phase_ = api::Phase::decode;
  Comparison compared_;
  QString front_;
};

}  // namespace orrery::ui
