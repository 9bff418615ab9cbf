// The pages of the view on paper.
#include <QFileInfo>
#include <QPageLayout>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <algorithm>
#include <cmath>
#include <memory>

#include "ui/graph/graph_view_private.h"
#include "ui/graph/paper.h"
#include "ui/graph/scene_graph.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

bool refuse(QString* reason, const QString& text) {
  if (reason) *reason = text;
  return false;
}

SheetSize sizeOf(GraphView::Paper paper) {
  return paper == GraphView::Paper::a4 ? SheetSize{1122.5, 793.7} : SheetSize{1587.4, 1122.5};
}

/// "name-2.svg"; the first keeps its name.
QString nameOfSheet(const QString& path, int sheet) {
  const QFileInfo file(path);
  if (sheet == 0) return path;
  return file.path() + '/' + file.completeBaseName() + '-' + QString::number(sheet + 1) + '.' + file.suffix();
}

/// The sheets of a document, one painter for each in turn.
class Document {
 public:
  virtual ~Document() = default;
  /// Null: it cannot be written.
  virtual QPainter* sheet(int number) = 0;
  virtual bool finish() = 0;
};

class PdfDocument : public Document {
 public:
  PdfDocument(const QString& path, GraphView::Paper paper, const QString& title) : writer_(path) {
    writer_.setTitle(title);
    writer_.setResolution(96);
    writer_.setPageLayout(
        QPageLayout(QPageSize(paper == GraphView::Paper::a4 ? QPageSize::A4 : QPageSize::A3),
                    QPageLayout::Landscape, QMarginsF()));
  }
  QPainter* sheet(int number) override {
    if (number == 0) return painter_.begin(&writer_) ? &painter_ : nullptr;
    return writer_.newPage() ? &painter_ : nullptr;
  }
  bool finish() override { return painter_.end(); }

 private:
  QPdfWriter writer_;
  QPainter painter_;
};

class SvgDocument : public Document {
 public:
  SvgDocument(const QString& path, const SheetSize& size, const QString& title)
      : path_(path), size_(size), title_(title) {}
  QPainter* sheet(int number) override {
    if (painter_.isActive()) painter_.end();
    svg_ = std::make_unique<QSvgGenerator>();
    svg_->setFileName(nameOfSheet(path_, number));
    svg_->setResolution(96);
    svg_->setSize(QSizeF(size_.width, size_.height).toSize());
    svg_->setViewBox(QRectF(0, 0, size_.width, size_.height));
    svg_->setTitle(title_);
    return painter_.begin(svg_.get()) ? &painter_ : nullptr;
  }
  bool finish() override { return painter_.end(); }

 private:
  QString path_;
  SheetSize size_;
  QString title_;
  std::unique_ptr<QSvgGenerator> svg_;
  QPainter painter_;
};

}  // namespace

/// The drawing on sheets: laid out for them, with all that is open now.
class GraphView::Private::Sheets {
 public:
  Sheets(Private& view, const SheetSize& size)
      : view_(view), size_(size), light_(Theme::Mode::light, view.theme.bodySize()), painter_(light_) {
    open_ = view.open;
    if (view.pages.empty())
      for (const SceneGroup& group : view.drawing.scene->groups) open_.insert(group.path);
    lay(1);
    if (model_.empty()) return;
    const PagePlace& page = model_.pages().front();
    const Rect& cell = page.page->cells.front().area;
    const Rect& column = page.page->columns.front().area;
    const double above = column.y + page.origin.y, all = drawing_.bounds().h;
    const PageMeasure measure{
        page.count, cell.w, cell.h, kCellGap, kPageGutter, above, all - above - column.h};
    plan_ = planSheets(measure, size);
    if (model_.pages().size() > 1)
      plan_.perSheet = plan_.columns = view.q->pageSize().columns;  // both on one sheet
    lay(plan_.columns);
    if (model_.pages().size() > 1)
      plan_.scale =
          std::min({1.0, size.roomWide() / drawing_.bounds().w, size.roomHigh() / drawing_.bounds().h});
  }

  bool empty() const { return model_.empty(); }
  int count() const {
    const int columns = static_cast<int>(model_.pages().front().page->columns.size());
    return model_.pages().size() > 1 ? 1 : (columns + plan_.perSheet - 1) / plan_.perSheet;
  }

  void paint(QPainter& painter, int sheet) {
    painter.save();
    painter.fillRect(QRectF(0, 0, size_.width, size_.height), light_(Token::canvas));
    paintTitle(painter, sheet);
    paintDrawing(painter, sheet);
    paintLegend(painter);
    painter.restore();
  }

 private:
  void lay(int columns) {
    Hierarchy hierarchy(painter_.textWidths());
    PagePlan plan;
    plan.columns = columns;
    hierarchy.setPlan(plan);
    drawing_ = {view_.drawing.scene, hierarchy.layout(*view_.drawing.scene, open_)};
    model_.setDrawing(drawing_, view_.edits);
    model_.setFigures(view_.heat);
  }

  /// The columns of a sheet: the first, and the last.
  std::pair<int, int> columnsOf(int sheet) const {
    const int columns = static_cast<int>(model_.pages().front().page->columns.size());
    const int first = sheet * plan_.perSheet;
    return {first, std::min(first + plan_.perSheet, columns) - 1};
  }

  void paintTitle(QPainter& painter, int sheet) const {
    const double baseline = SheetSize::kMargin + 14, right = size_.width - SheetSize::kMargin;
    const QFont name = light_.textFont(14, QFont::DemiBold), note = light_.textFont(11);
    painter.setPen(light_(Token::text));
    drawLabel(painter, QPointF(SheetSize::kMargin, baseline), view_.name, name);
    painter.setPen(light_(Token::text2));
    drawLabel(painter, QPointF(SheetSize::kMargin + textWidth(view_.name, name) + 12, baseline),
              view_.q->summary(), note);
    if (count() == 1) return;
    const QString number = tr("sheet %1 of %2").arg(sheet + 1).arg(count());
    drawLabel(painter, QPointF(right - textWidth(number, note), baseline), number, note);
  }

  void paintDrawing(QPainter& painter, int sheet) {
    const PagePlace& page = model_.pages().front();
    const auto [first, last] = columnsOf(sheet);
    const Rect bounds = drawing_.bounds();
    const Rect &from = page.page->columns[at(first)].area, &to = page.page->columns[at(last)].area;
    const bool all = count() == 1;
    const double reach = kPageGutter / 2 - 1;
    const Rect visible =
        all ? bounds
            : Rect{from.x + page.origin.x - reach, bounds.y, to.right() - from.x + 2 * reach, bounds.h};
    PaintJob job = view_.job(QRectF());
    Marks none;
    job.drawing = &drawing_;
    job.pages = &model_;
    job.marks = &none;
    job.moving = nullptr;
    job.running = -1;
    job.litShape = -1;
    job.blocks = false;
    job.strict = !all;
    job.visible = visible;
    job.scale = plan_.scale;
    job.detail = detailAt(plan_.scale, Detail::far);
    const double inset =
        all ? std::max(0.0, (size_.roomWide() - visible.w * plan_.scale) / 2) : -reach * plan_.scale;
    painter.save();
    painter.translate(SheetSize::kMargin + inset, SheetSize::kMargin + SheetSize::kTitle);
    painter.scale(plan_.scale, plan_.scale);
    painter.translate(-visible.x, -visible.y);
    painter_.paint(painter, job);
    const int columns = static_cast<int>(page.page->columns.size());
    if (first > 0) paintArriving(painter, light_, model_, page, first, plan_.scale);
    if (last + 1 < columns) paintLeaving(painter, light_, model_, page, last, plan_.scale);
    painter.restore();
  }

  void paintLegend(QPainter& painter) const {
    const Theme plain(Theme::Mode::light);
    double x = SheetSize::kMargin - 14;
    const double y = size_.height - SheetSize::kMargin - SheetSize::kLegend + 8;
    const auto add = [&](StripSection& section, double width) {
      section.setAttribute(Qt::WA_NoSystemBackground);
      section.resize(static_cast<int>(width), section.sizeHint().height());
      painter.save();
      painter.translate(x, y);
      section.render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
      painter.restore();
      x += width;
    };
    Legend legend(plain, nullptr);
    view_.fillLegend(legend);
    add(legend, legend.sizeHint().width());
    ShapeList shapes(plain, nullptr);
    shapes.setEntries(view_.shapeEntries(model_, plain));
    MarkLegend marks(plain, nullptr);
    marks.setPaged(true);
    const double room = size_.width - SheetSize::kMargin - x - marks.sizeHint().width();
    add(shapes, std::min<double>(shapes.sizeHint().width(), room));
    add(marks, marks.sizeHint().width());
  }

  Private& view_;
  SheetSize size_;
  Theme light_;
  ScenePainter painter_;
  std::unordered_set<std::string> open_;
  Drawing drawing_;
  PageModel model_;
  SheetPlan plan_;
};

bool GraphView::exportPaper(const QString& path, Paper paper, QString* reason) {
  Private& d = *d_;
  if (!d.drawing) return refuse(reason, tr("There is no graph to export: open a model first"));
  const QString suffix = QFileInfo(path).suffix().toLower();
  const bool pdf = suffix == QLatin1String("pdf");
  if (!pdf && suffix != QLatin1String("svg"))
    return refuse(reason, tr("%1 is no format for paper that Orrery writes: use svg or pdf").arg(suffix));
  const SheetSize size = sizeOf(paper);
  Private::Sheets sheets(d, size);
  if (sheets.empty())
    return refuse(reason, tr("This graph has no run of layers that could be a page: export it as a drawing"));
  std::unique_ptr<Document> document;
  if (pdf)
    document = std::make_unique<PdfDocument>(path, paper, d.name);
  else
    document = std::make_unique<SvgDocument>(path, size, d.name);
  for (int sheet = 0; sheet < sheets.count(); ++sheet) {
    QPainter* painter = document->sheet(sheet);
    if (!painter) return refuse(reason, tr("%1 cannot be written: choose another folder").arg(path));
    sheets.paint(*painter, sheet);
  }
  return document->finish() || refuse(reason, tr("%1 cannot be written: choose another folder").arg(path));
}

}  // namespace orrery::ui
