#include "ui/shell/pages.h"

#include "ui/change/page.h"
#include "ui/chat/page.h"
#include "ui/classify/page.h"
#include "ui/compare/page.h"
#include "ui/costs/page.h"
#include "ui/depth/page.h"
#include "ui/diff/page.h"
#include "ui/history/page.h"
#include "ui/inspector/page.h"
#include "ui/lab/page.h"
#include "ui/latency/page.h"
#include "ui/library/page.h"
#include "ui/ops/page.h"
#include "ui/own_ops/page.h"
#include "ui/passes/page.h"
#include "ui/replies/page.h"
#include "ui/shell/outline_page.h"
#include "ui/sweep/page.h"
#include "ui/values/page.h"

namespace orrery::ui {

std::vector<Page> allPages() {
  return {libraryPage(),  outlinePage(), opsPage(),    historyPage(), inspectorPage(),
          changePage(),   costsPage(),   passesPage(), repliesPage(), chatPage(),
          classifyPage(), comparePage(), diffPage(),   sweepPage(),   depthPage(),
          latencyPage(),  valuesPage(),  labPage(),    ownOpsPage()};
}

}  // namespace orrery::ui
