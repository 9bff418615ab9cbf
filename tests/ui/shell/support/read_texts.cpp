#include "support/read_texts.h"

#include <gtest/gtest.h>

#include <QBuffer>
#include <QFile>
#include <QPainter>
#include <QSvgGenerator>
#include <QTransform>
#include <QXmlStreamReader>
#include <algorithm>

namespace orrery::ui::testing {
namespace {

constexpr double kSameLine = 2;  // pixels between base lines

QTransform transformOf(const QString& words) {  // "matrix(a,b,c,d,e,f)"
  const QStringList parts = words.section('(', 1).section(')', 0, 0).split(',');
  if (parts.size() != 6) return {};
  double m[6];
  for (int i = 0; i < 6; ++i) m[i] = parts[i].toDouble();
  return {m[0], m[1], m[2], m[3], m[4], m[5]};
}

ReadTexts read(QIODevice& svg) {
  ReadTexts texts;
  std::vector<QTransform> stack{QTransform()};
  QXmlStreamReader xml(&svg);
  while (!xml.atEnd()) {
    xml.readNext();
    const QXmlStreamAttributes attributes = xml.attributes();
    if (xml.isStartElement() && xml.name() == QLatin1String("g")) {
      stack.push_back(transformOf(attributes.value("transform").toString()) * stack.back());
    } else if (xml.isEndElement() && xml.name() == QLatin1String("g")) {
      stack.pop_back();
    } else if (xml.isStartElement() && xml.name() == QLatin1String("text")) {
      ReadText text;
      text.at = stack.back().map(QPointF(attributes.value("x").toDouble(), attributes.value("y").toDouble()));
      text.size = attributes.value("font-size").toDouble();
      text.weight = attributes.value("font-weight").toInt();
      text.mono = attributes.value("font-family").contains(QLatin1String("Mono"));
      text.text = xml.readElementText().trimmed();
      if (!text.text.isEmpty()) texts.push_back(text);
    }
  }
  EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
  std::stable_sort(texts.begin(), texts.end(), [](const ReadText& a, const ReadText& b) {
    return std::abs(a.at.y() - b.at.y()) > kSameLine ? a.at.y() < b.at.y() : a.at.x() < b.at.x();
  });
  return texts;
}

}  // namespace

ReadTexts readTexts(QWidget& widget) {
  QBuffer drawing;
  drawing.open(QIODevice::ReadWrite);
  {
    QSvgGenerator svg;
    svg.setOutputDevice(&drawing);
    svg.setSize(widget.size());
    svg.setViewBox(widget.rect());
    QPainter painter(&svg);
    widget.render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
  }
  drawing.seek(0);
  return read(drawing);
}

ReadTexts readSvg(const QString& path) {
  QFile file(path);
  EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << path.toStdString();
  return read(file);
}

QStringList lineOf(const ReadTexts& texts, const QString& start) {
  QStringList line;
  const auto first =
      std::find_if(texts.begin(), texts.end(), [&](const ReadText& text) { return text.text == start; });
  for (auto it = first; it != texts.end() && std::abs(it->at.y() - first->at.y()) <= kSameLine; ++it)
    line += it->text;
  return line;
}

}  // namespace orrery::ui::testing
