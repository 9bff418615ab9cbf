// The desktop program: reads the command line, hands the engine's functions to the window, shows it.
#include <sys/resource.h>
#include <unistd.h>

#include <QApplication>
#include <QCommandLineParser>
#include <climits>
#include <cstdio>

#include "engine/api/lab_runs.h"
#include "engine/api/metadata.h"
#include "engine/api/recipe_files.h"
#include "engine/api/shown_session.h"
#include "ui/session/services.h"
#include "ui/shell/main_window.h"
#include "ui/shell/picture_run.h"
#include "ui/shell/window_options.h"
#include "ui/shell/workspaces.h"

namespace {

/// The engine's team uses every core and waits for its slowest thread at each kernel, so a picture that is
/// painted meanwhile costs far more than its own time. The GUI thread therefore gives way; threads made
/// before keep theirs.
void yieldToEngine() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10); }

using namespace orrery;

constexpr int kWrongUsage = 2;
constexpr int kMostThreads = 1024;
constexpr int kPictureWidth = 1600, kPictureHeight = 1000;
constexpr const char* kDefaultModel = "smollm2";

struct Arguments {
  QString model = kDefaultModel, recipe;
  ui::WindowOptions window;
  std::optional<ui::FirstWordsOptions> words;
  std::optional<ui::PictureOptions> picture;
};

int wrongUsage(const QString& text) {
  std::fprintf(stderr, "error: %s\n", qPrintable(text));
  return kWrongUsage;
}

/// "talk, see, edit or measure"
QString workspaces() {
  QStringList ids;
  for (const ui::WorkspacePlan& plan : ui::allWorkspaces()) ids += plan.id;
  const QString last = ids.takeLast();
  return ids.join(", ") + " or " + last;
}

/// Reads a count from 1 to `most`, where one is given; empty unless it is wrong.
template <class Count>
QString readCount(const QCommandLineParser& parser, const QString& option, int most, Count& count) {
  if (!parser.isSet(option)) return {};
  bool number = false;
  count = static_cast<Count>(parser.value(option).toInt(&number));
  if (number && count >= 1 && count <= most) return {};
  return "--" + option + " is \"" + parser.value(option) + "\": give a whole number, 1 to " +
         QString::number(most);
}

/// Empty when the arguments are right, else what is wrong with them.
QString read(QCommandLineParser& parser, Arguments& arguments) {
  if (parser.positionalArguments().size() > 1)
    return "Two models were named: name one; the window opens others from its library";
  if (!parser.positionalArguments().isEmpty()) arguments.model = parser.positionalArguments().first();
  if (arguments.model.isEmpty()) return "No model was named: name a file, a folder or a library model";
  arguments.recipe = parser.value("recipe");
  if (parser.value("device") == "both")
    arguments.window.both = true;
  else if (parser.isSet("device"))
    arguments.window.open.device = parser.value("device").toStdString();
  api::OpenOptions& open = arguments.window.open;
  if (QString wrong = readCount(parser, "threads", kMostThreads, open.threads); !wrong.isEmpty())
    return wrong;
  if (QString wrong = readCount(parser, "context", INT_MAX, open.context); !wrong.isEmpty()) return wrong;
  arguments.window.configFolder = parser.value("config");
  if (const QString theme = parser.value("theme"); !theme.isEmpty()) {
    if (theme != "dark" && theme != "light") return "There is no theme \"" + theme + "\": use dark or light";
    arguments.window.theme = theme == "dark" ? ui::ThemeChoice::dark : ui::ThemeChoice::light;
  }
  arguments.window.workspace = parser.value("workspace");
  if (parser.isSet("workspace") && !ui::findWorkspace(arguments.window.workspace))
    return "There is no workspace \"" + arguments.window.workspace + "\": use " + workspaces();
  ui::FirstWordsOptions words;
  if (parser.isSet("workspace") && !parser.isSet("say")) words.page = "graph";
  words.say = parser.value("say");
  if (parser.isSet("page")) words.page = parser.value("page");
  const QString& page = words.page;
  if (page != "graph" && page != "chat" && page != "classify" && page != "compare" && page != "diff" &&
      page != "sweep" && page != "depth" && page != "lab")
    return "There is no page \"" + page + "\": use graph, chat, classify, compare, diff, sweep, depth or lab";
  const bool asked = parser.isSet("say") || parser.isSet("page") || parser.isSet("screenshot");
  if (asked) arguments.words = words;
  if (!parser.isSet("screenshot"))
    return parser.isSet("after") ? "--after belongs to --screenshot FILE.png: name the picture too" : "";
  ui::PictureOptions picture;
  picture.file = parser.value("screenshot");
  bool number = true;
  if (parser.isSet("after")) picture.after = parser.value("after").toDouble(&number);
  if (!number || picture.after < 0 || picture.after > 3600)
    return "--after takes seconds, 0 to 3600: --after 5";
  arguments.picture = picture;
  return {};
}

void addOptions(QCommandLineParser& parser) {
  parser.setApplicationDescription("Shows a neural network as the graph that runs, and runs it.");
  parser.addOption({{"h", "help"}, "Tells what can be asked for, and quits."});
  parser.addVersionOption();
  parser.addPositionalArgument(
      "MODEL",
      "A .gguf or .safetensors file, a Hugging Face folder, or a name from the library (default smollm2).",
      "[MODEL]");
  parser.addOption({"recipe", "Apply the edits of this recipe.", "FILE.json"});
  parser.addOption({"device", "cpu, cuda:N, or both: the CPU and the first CUDA device.", "DEVICE"});
  parser.addOption({"threads", "Threads of the CPU (default: all).", "N"});
  parser.addOption({"context", "Tokens of context (default: the model's own, at most 8192).", "N"});
  parser.addOption({"theme", "dark or light (default: as remembered, else as the desktop).", "THEME"});
  parser.addOption(
      {"workspace", workspaces() + " (default: as remembered, talk at the first start).", "WORKSPACE"});
  parser.addOption({"config", "Folder of the window's settings.", "DIR"});
  parser.addOption({"screenshot", "Do the work, save a picture of the window, quit.", "FILE.png"});
  parser.addOption({"after", "Seconds from the loaded model to the picture (default 3).", "SECONDS"});
  parser.addOption({"say", "Text to type into the page and send, once the model is open.", "TEXT"});
  parser.addOption(
      {"page",
       "graph, chat, classify, compare, diff, sweep, depth or lab (default: as remembered, chat for a "
       "picture or a text).",
       "PAGE"});
}

ui::Services services() {
  ui::Services services;
  services.open = api::open_or_show;
  services.metadata = {api::list_metadata, api::check_metadata_value, api::save_metadata};
  services.exports = {api::plan_export, api::export_model};
  services.listModels = api::list_models;
  services.canBypass = edit::can_bypass;
  services.edits = {edit::can_connect, edit::refusal};
  services.recipes = {edit::read_recipe, edit::parse_recipe,  edit::write_recipe,   edit::misfits,
                      api::list_recipes, api::recipe_misfits, api::recipes_folder()};
  services.sweeps = {api::sweep_places, api::sweep};
  services.depths = {api::depths_demand, api::measure_depths};
  services.diffs = {api::diff, api::weight_distances, api::side_times};
  services.passes = {api::pass_reports, api::pass_gain};
  services.graphs = {api::new_graph, api::read_canvas, api::save_graph, api::run_graph};
  services.lab = {api::list_kernels, api::run_lab, api::lab_history_file()};
  services.ownOps = {api::join_own_ops, api::list_own_ops, custom::read_source, api::compile_own_op,
                     api::check_own_op, api::add_own_op,   api::remove_own_op};
  services.writeTrace = api::write_trace;
  services.cudaRefusal = "Looking for CUDA devices";
  services.listDevices = api::list_devices;
  services.memoryDemand = api::memory_demand;
  services.compare = api::compare;
  services.attribute = api::attribute;
  return services;
}

/// A machine without a display can still take pictures.
bool hasDisplay() {
  return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
         qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

int show(QApplication& application, Arguments& arguments) {
  arguments.window.systemMode = ui::Theme::systemMode();
  ui::MainWindow window(services(), arguments.window);
  std::optional<ui::FirstWords> words;
  std::optional<ui::PictureRun> picture;
  if (arguments.words) words.emplace(&window, *arguments.words);
  if (arguments.picture) {
    window.resize(kPictureWidth, kPictureHeight);
    picture.emplace(&window, &*words, *arguments.picture);
    QObject::connect(&*picture, &ui::PictureRun::finished, &application, [](const QString& error) {
      if (!error.isEmpty()) std::fprintf(stderr, "error: %s\n", qPrintable(error));
      QApplication::exit(error.isEmpty() ? 0 : 1);
    });
  }
  window.show();
  window.openModel(arguments.model, {}, arguments.recipe);
  yieldToEngine();
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  QCoreApplication::setApplicationName("orrery");
  QCoreApplication::setApplicationVersion("0.1.0");
  QStringList words;
  for (int i = 0; i < argc; ++i) words += QString::fromLocal8Bit(argv[i]);
  QCommandLineParser parser;
  addOptions(parser);
  if (!parser.parse(words)) return wrongUsage(parser.errorText() + ": see --help");
  if (parser.isSet("help")) {
    // Qt knows the program's name only while there is an application.
    const QString help = parser.helpText().replace("<executable_name>", "orrery");
    return std::fputs(qPrintable(help), stdout) < 0;
  }
  if (parser.isSet("version")) return std::puts("orrery 0.1.0") < 0;
  Arguments arguments;
  if (const QString problem = read(parser, arguments); !problem.isEmpty()) return wrongUsage(problem);
  if (!hasDisplay()) {
    if (!arguments.picture) {
      std::fprintf(stderr,
                   "error: There is no display (DISPLAY and WAYLAND_DISPLAY are not set): start it on a "
                   "desktop, use orrery-cli, or add --screenshot FILE.png\n");
      return 1;
    }
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  QApplication application(argc, argv);
  return show(application, arguments);
}
