// Draws pages of columns: cells from far, heads of layers and columns at every scale, the stream between the
// cells, cells that are kept free. What is in an open layer from nearer is ScenePainter's.
#pragma once

#include <QPainter>
#include <memory>

#include "ui/graph/cell_pictures.h"
#include "ui/graph/frame_sprites.h"
#include "ui/graph/page_model.h"

namespace orrery::ui {

struct PaintJob;

class PagePainter {
 public:
  explicit PagePainter(const Theme& theme);

  /// The layers of a page as they look from far; blocks: a layer is one.
  void paintCells(QPainter& painter, const PaintJob& job, const PagePlace& page) const;
  /// What lies under the layers: free cells, what is below a folded one, and over them: the names of columns.
  void paintGround(QPainter& painter, const PaintJob& job, const PagePlace& page) const;
  void paintColumns(QPainter& painter, const PaintJob& job, const PagePlace& page) const;
  /// On the box of something beside a page, from far.
  void paintBoxWords(QPainter& painter, const PaintJob& job, const QRectF& box, const QString& name,
                     const QString& value, const QColor& ground) const;
  /// The frame of an open layer, and its head with the marks on it; of a folded one all.
  void paintFrame(QPainter& painter, const PaintJob& job, const PageLayer& layer) const;
  void paintHead(QPainter& painter, const PaintJob& job, const PageLayer& layer) const;
  /// Rings of what is chosen, hovered or not among the shapes that are lit.
  void paintMarks(QPainter& painter, const PaintJob& job, const PageLayer& layer) const;
  /// Streams, taps and rings of a layout: of a page's group, or inside of a layer.
  void paintStreams(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                    Point origin) const;
  /// The colour of a layer as one block.
  QColor blockColor(const PaintJob& job, const PageLayer& layer) const;

 private:
  struct Head;
  void paintCell(QPainter& painter, const PaintJob& job, const PageLayer& layer,
                 const std::vector<size_t>& words) const;
  void paintBlocks(QPainter& painter, const PaintJob& job, const PageLayer& layer, const CellPicture& picture,
                   const QPointF& corner) const;
  void paintSpecials(QPainter& painter, const PaintJob& job, const PageLayer& layer,
                     const CellPicture& picture, const QPointF& corner) const;
  void paintBlock(QPainter& painter, const PaintJob& job, const PageLayer& layer) const;
  void paintPlate(QPainter& painter, const PaintJob& job, const PageLayer& layer) const;
  void paintWord(QPainter& painter, const PageLayer& layer, const QPointF& place, double room) const;
  void paintTime(QPainter& painter, const PaintJob& job, const PageLayer& layer, const QString& time,
                 const QFont& font, const QRectF& chip) const;
  QColor heatColor(const PaintJob& job, double heat) const;
  std::vector<size_t> wordsOf(const PaintJob& job) const;

  Theme theme_;
  QFont nameFont_, smallNameFont_, smallTimeFont_, nearFont_, timeFont_, docFont_, wordFont_, columnFont_,
      columnTimeFont_, boxFont_, boxValueFont_;
  std::shared_ptr<CellPictures> pictures_;  // of this theme
  std::shared_ptr<FrameSprites> frames_;
};

}  // namespace orrery::ui
