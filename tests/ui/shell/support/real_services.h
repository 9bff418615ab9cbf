// The window on the real engine.
#pragma once

#include "engine/api/export.h"
#include "engine/api/session.h"
#include "engine/edit/edit.h"
#include "ui/session/services.h"

namespace orrery::ui::testing {

/// Without a card, until a test gives it some (listDevices).
inline Services realServices() {
  Services services;
  services.open = api::Session::open;
  services.listModels = api::list_models;
  services.canBypass = edit::can_bypass;
  services.edits = {edit::can_connect, edit::refusal};
  services.sweeps = {api::sweep_places, api::sweep};
  services.depths = {api::depths_demand, api::measure_depths};
  services.diffs = {api::diff, api::weight_distances, api::side_times};
  services.compare = api::compare;
  services.attribute = api::attribute;
  services.passes = {api::pass_reports, api::pass_gain};
  services.recipes = {edit::read_recipe, edit::parse_recipe, edit::write_recipe, edit::misfits};
  services.exports = {api::plan_export, api::export_model};
  services.graphs = {api::new_graph, api::read_canvas, api::save_graph, api::run_graph};
  services.cudaRefusal = "not built";
  return services;
}

}  // namespace orrery::ui::testing
