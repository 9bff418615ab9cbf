// Draws a model's graph into a picture, to look at: graph_snapshot [options] OUT.png
#include <QApplication>
#include <QCommandLineParser>
#include <QKeyEvent>
#include <QTextStream>

#include "tests/ui/graph/sample_graphs.h"
#include "ui/graph/graph_view.h"
#include "ui/placement/scope_words.h"

using namespace orrery;
using namespace orrery::ui;

namespace {

int fail(const QString& text) {
  QTextStream(stderr) << text << "\n";
  return 1;
}

/// Asks the card for what the scopes hold; norms stay on the CPU all the same.
Places placeOnCard(graph::GraphVersion& graph, const QString& scopes) {
  Places places{"CPU", {}};
  graph::Graph copy = *graph;
  for (const NodeId id : nodesIn(*graph, scopes)) {
    const bool norm = graph->node(id).op->family == graph::OpFamily::norm;
    places.nodes[id] = {norm ? "CPU" : "CUDA 0", "CUDA 0", norm ? "no row takes it" : ""};
    if (!copy.set_attribute(id, std::string(graph::kDeviceAttribute), std::string("cuda:0")).ok()) return {};
  }
  graph = std::make_shared<const graph::Graph>(std::move(copy));
  return places;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QCommandLineParser options;
  options.addPositionalArgument("out", "the picture");
  options.addOptions(
      {{"model",
        "below the models' folder, or flat:N, layers:N, layers:N:BYPASSED, decoder:N, decoder:N:ODD, both:N",
        "name", "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"},
       {"fused", "as it runs"},
       {"light", "light theme"},
       {"cold", "no times"},
       {"off", "no heat"},
       {"all", "open everything"},
       {"fit", "all of it"},
       {"none", "fold everything"},
       {"width", "pixels", "n", "984"},
       {"height", "pixels", "n", "632"},
       {"zoom", "scale", "x", "0"},
       {"open", "scope", "scope"},
       {"close", "scope", "scope"},
       {"select", "node or scope", "path"},
       {"edit", "node", "path"},
       {"card", "what runs on CUDA 0, its norms on the CPU although asked", "scopes"},
       {"export", "file", "file"},
       {"columns", "of layers", "n", "0"},
       {"lens", "over what is selected"},
       {"find", "text", "text"}});
  options.process(application);
  if (options.positionalArguments().size() != 1) return fail("usage: graph_snapshot [options] OUT.png");
  const Theme theme(options.isSet("light") ? Theme::Mode::light : Theme::Mode::dark);
  applyTheme(application, theme);

  const QString model = options.value("model");
  graph::GraphVersion graph;
  if (model.startsWith("flat:"))
    graph = samples::flatGraph(model.mid(5).toInt());
  else if (model.startsWith("layers:"))
    graph = samples::layeredGraph(model.section(':', 1, 1).toInt(),
                                  model.section(':', 2).isEmpty() ? -1 : model.section(':', 2).toInt());
  else if (model.startsWith("decoder:"))
    graph = samples::decoderGraph(model.section(':', 1, 1).toInt(),
                                  model.section(':', 2).isEmpty() ? -1 : model.section(':', 2).toInt());
  else if (model.startsWith("both:"))
    graph = samples::encoderDecoderGraph(model.mid(5).toInt());
  else if (auto built = samples::modelGraph(model.toStdString(), options.isSet("fused")); built.ok())
    graph = *built;
  else
    return fail(QString::fromStdString(built.error().to_string()));

  GraphView view(theme);
  view.setReducedMotion(true);
  view.resize(options.value("width").toInt(), options.value("height").toInt());
  view.show();
  std::unordered_set<NodeId> edited;
  if (options.isSet("edit")) edited.insert(graph->find_path(options.value("edit").toStdString()));
  if (options.isSet("off")) view.setHeatMode(HeatMode::off);
  if (options.isSet("card")) view.setPlaces(placeOnCard(graph, options.value("card")));
  view.setGraph(graph, edited, "smollm2");
  if (!edited.empty()) view.setEdits({edited});
  view.setColumns(options.value("columns").toInt());
  if (!view.waitForLayout()) return fail("the layout took too long");
  const Bindings step{{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}};
  const Figures figures = samples::plausibleFigures(*graph, step, !options.isSet("fused"));
  if (!options.isSet("cold")) view.setTimings(figures);
  if (options.isSet("all")) view.expandAll();
  if (options.isSet("none")) view.collapseAll();
  view.waitForLayout();
  if (options.isSet("open")) view.expandScope(options.value("open"));
  if (options.isSet("close")) view.collapseScope(options.value("close"));
  view.waitForLayout();
  if (options.isSet("select")) {
    const NodeId node = graph->find_path(options.value("select").toStdString());
    node.valid() ? view.select(node) : view.selectScope(options.value("select"));
  }
  if (options.isSet("find")) view.find(options.value("find"));
  view.waitForLayout();
  if (options.isSet("fit")) view.fit();
  if (options.value("zoom").toDouble() > 0) view.zoomTo(options.value("zoom").toDouble());
  if (options.isSet("lens")) {
    QKeyEvent press(QEvent::KeyPress, Qt::Key_Z, Qt::NoModifier);
    QApplication::sendEvent(&view, &press);
  }
  QString reason;
  if (options.isSet("export") && !view.exportImage(options.value("export"), &reason)) return fail(reason);
  application.processEvents();
  return view.grab().save(options.positionalArguments().first()) ? 0 : fail("the picture cannot be written");
}
