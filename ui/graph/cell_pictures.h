// Layers of a page as small pictures: what lies under their blocks and what is written on them. A layer is a
// copy of its shape's picture with its own colours filled in between.
#pragma once

#include <QPainter>
#include <QPixmap>
#include <QStringList>
#include <map>
#include <memory>
#include <vector>

#include "ui/graph/page_model.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

/// An op of a layer, or what is folded in it, as it is drawn from far.
struct CellBlock {
  QRectF box;                        // pixels of the screen, from the cell's top left corner
  int begin = 0, end = 0;            // nodes, from the layer's first one
  bool live = true, framed = false;  // framed: in a group of the layer
  QString name;
};

struct CellPicture {
  std::shared_ptr<const GroupLayout> layout;  // of which it is
  std::vector<CellBlock> blocks;
  QPixmap ground, words;  // words: null where blocks are too low for them
};

/// Pixels of the screen to a unit of the scene, and of the device to one of the screen's.
struct PixelScale {
  double scale = 1, ratio = 1;
  double rounded(double px) const { return std::round(px * ratio) / ratio; }
  friend bool operator==(const PixelScale&, const PixelScale&) = default;
};

/// A layer to draw, with all that its look depends on.
struct CellSubject {
  const SceneGraph* scene = nullptr;
  const PageLayer* layer = nullptr;
  const PageShape* shape = nullptr;
  std::shared_ptr<const GroupLayout> inner;
  bool ratio = false;  // heat is of two sides
  size_t words = 0;    // what wordsOf() says of the shape
};

/// "q" of "q_proj", "out" of "attn_out": where that is no other op's word in the layer. In the names' order.
QStringList briefNames(const QStringList& names);
/// The words that are left of the names: none where different names are cut to the same.
QStringList distinctWords(const QStringList& names, QStringList words);

class CellPictures {
 public:
  explicit CellPictures(const Theme& theme);

  const CellPicture& of(const CellSubject& subject, const PixelScale& pixels);
  std::vector<CellBlock> blocksOf(const CellSubject& subject, const PixelScale& pixels) const;
  /// The parts of a picture, in pixels from the cell's corner.
  void paintGround(QPainter& painter, const CellSubject& subject, const std::vector<CellBlock>& blocks,
                   const PixelScale& pixels) const;
  void paintWords(QPainter& painter, const CellSubject& subject, const std::vector<CellBlock>& blocks) const;
  /// Blocks are high enough to be written on.
  static bool hasWords(const PixelScale& pixels);
  /// Differs when what is written on the blocks of a shape does, or its colour.
  size_t wordsOf(const PageShape& shape, bool ratio) const;

 private:
  struct Key {
    const GroupLayout* layout;
    int width, height;
    bool usual;
    size_t words;
    auto operator<=>(const Key&) const = default;
  };
  struct Label {
    QString name, type;  // none: there is no room
    double typeWidth = 0;
  };
  std::vector<Label> labelsOf(const CellSubject& subject, const std::vector<CellBlock>& blocks) const;
  void paintLines(QPainter& painter, const CellSubject& subject, const PixelScale& pixels) const;
  void roundCorners(QPainter& painter, const CellSubject& subject, const CellBlock& block) const;
  QColor colorOf(bool ratio, double heat) const;

  Theme theme_;
  QFont nameFont_, typeFont_;
  PixelScale pixels_;
  std::map<Key, CellPicture> known_;  // at these pixels
};

}  // namespace orrery::ui
