#include "ui/inspector/inspector_placement.h"

#include <QGridLayout>
#include <map>

#include "ui/theme/format.h"
#include "ui/widgets/buttons.h"

namespace orrery::ui {
namespace {

constexpr double kButtonWidth = 130;
constexpr int kMostReasons = 3;  // of a scope

}  // namespace

void addRows(const Theme& theme, Section* section, const NamedRows& rows) {
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(1, 1);
  for (const auto& [name, value] : rows) {
    const int row = grid->rowCount();
    auto* text = new Text(theme, {deviceToken(value), 11.5}, value, section->body());
    text->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid->addWidget(new Text(theme, {Token::text2, 11.5}, name, section->body()), row, 0);
    grid->addWidget(text, row, 1);
  }
  section->content()->addLayout(grid);
}

void addReason(const Theme& theme, Section* section, const QString& reason) {
  auto* text = new Text(theme, {Token::warn, 11.5}, reason, section->body());
  text->setWrap(true);
  section->content()->addWidget(text);
}

void addMenuButton(const Theme& theme, Section* section, const MenuButton& wanted) {
  auto* button = new DropButton(theme, section->body());
  button->setCaption(wanted.caption);
  button->setIconName(wanted.icon);
  button->setToolTip(wanted.tip);
  const int width = static_cast<int>(theme.scaled(kButtonWidth));
  button->setWidths(width, width);
  QObject::connect(button->menu(), &QMenu::aboutToShow, button, [button, fill = wanted.fill] {
    button->menu()->clear();
    fill(button->menu());
  });
  section->content()->addWidget(button, 0, Qt::AlignLeft);
}

Token deviceToken(const QString& device) {
  if (device.startsWith(QLatin1String("CUDA"))) return Token::cuda;
  return device.startsWith(QLatin1String("CPU")) ? Token::cpu : Token::text;
}

Places placesShown(const api::Session& session, const graph::Graph& shown, bool fused,
                   const api::PlanReport* plan) {
  return fused ? fusedPlaces(session, shown, plan) : modelPlaces(session);
}

void addPlaceRows(const Theme& theme, Section* section, const NodePlace& place, const QString& home) {
  section->setFigures(place.device);
  if (place.asked == home && !place.fellBack())
    return addRows(theme, section, {{"asked", home + ", as the model"}});
  addRows(theme, section, {{"asked", place.asked}, {"runs on", place.device}});
  if (place.fellBack())
    addReason(theme, section,
              QString("asked for %1; runs on %2: %3").arg(place.asked, place.device, place.reason));
}

void addTransferRows(const Theme& theme, Section* section, const NodePlace& place, const QString& from,
                     double bytes) {
  section->setFigures(from + QString::fromUtf8(" → ") + place.device);
  addRows(theme, section,
          {{"from", from},
           {"to", place.device},
           {"carries, a token", bytes > 0 ? format::bytes(bytes) : format::dash()}});
}

void addPlaceRows(const Theme& theme, Section* section, const Places& places,
                  const std::vector<NodeId>& nodes) {
  std::map<QString, int> counts, reasons;
  for (const NodeId node : nodes) {
    const NodePlace place = places.of(node);
    ++counts[place.device];
    if (place.fellBack())
      ++reasons[QString("asked for %1; on %2: %3").arg(place.asked, place.device, place.reason)];
  }
  NamedRows rows;
  for (const auto& [device, count] : counts)
    rows.emplace_back(
        format::count(count) + " of " + format::counted(static_cast<qint64>(nodes.size()), "node"), device);
  section->setFigures(counts.size() == 1 ? counts.begin()->first : counts.empty() ? QString() : "mixed");
  addRows(theme, section, rows);
  int shown = 0;
  for (const auto& [reason, count] : reasons) {
    if (++shown > kMostReasons) break;
    addReason(theme, section, format::counted(count, "node") + " " + reason);
  }
}

void addPlaceButton(const Theme& theme, Section* section, PlaceMenu* menu,
                    const std::shared_ptr<api::Session>& session, const QString& scopes) {
  if (scopes.isEmpty()) return;
  addMenuButton(theme, section,
                {"Run on", "gpu", "Choose where it runs; the next message does",
                 [menu, session, scopes](QMenu* to) { menu->fill(to, *session, scopes); }});
}

}  // namespace orrery::ui
