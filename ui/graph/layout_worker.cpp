#include "ui/graph/layout_worker.h"

#include <chrono>

#include "ui/graph/kept_layout.h"

namespace orrery::ui {
namespace {

std::optional<LayoutReply> work(Hierarchy& hierarchy, const LayoutRequest& request, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  LayoutReply reply;
  reply.drawing.scene = request.graph ? makeScene(request.graph, request.bindings, stop) : request.scene;
  if (!reply.drawing.scene) return std::nullopt;
  reply.open = request.choose ? firstOpen(*reply.drawing.scene) : request.open;
  auto arrangement = request.arrangement ? std::make_shared<Arrangement>(*request.arrangement)
                                         : std::make_shared<Arrangement>();
  if (request.before && request.before.scene != reply.drawing.scene)
    keepEdited(*arrangement, *request.before.scene, request.before.layout, *reply.drawing.scene);
  hierarchy.setPlan(request.plan);
  reply.drawing.layout = hierarchy.layout(*reply.drawing.scene, reply.open, stop, arrangement.get());
  if (!reply.drawing.layout) return std::nullopt;
  adopt(*arrangement, *reply.drawing.scene, reply.drawing.layout);
  reply.arrangement = std::move(arrangement);
  reply.plan = hierarchy.plan();
  reply.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return reply;
}

void openAll(const SceneGraph& scene, int group, std::unordered_set<std::string>& open) {
  open.insert(scene.groups[at(group)].path);
  for (const SceneChild& child : scene.groups[at(group)].children)
    if (child.isGroup) openAll(scene, child.index, open);
}

void choose(const SceneGraph& scene, int group, std::unordered_set<std::string>& open) {
  constexpr int kSmall = 12, kShown = 400;  // nodes
  const SceneGroup* before = nullptr;
  for (const SceneChild& child : scene.groups[at(group)].children) {
    const SceneGroup* inner = child.isGroup ? &scene.groups[at(child.index)] : nullptr;
    if (inner && inner->number >= 0) {
      const bool first = !before || before->stem != inner->stem;
      if (first && inner->nodeCount() <= kShown) openAll(scene, child.index, open);
    } else if (inner) {
      bool numbered = false;
      for (const SceneChild& c : inner->children)
        numbered |= c.isGroup && scene.groups[at(c.index)].number >= 0;
      if (inner->nodeCount() <= kSmall) openAll(scene, child.index, open);
      if (numbered) {
        open.insert(inner->path);
        choose(scene, child.index, open);
      }
    }
    before = inner && inner->number >= 0 ? inner : before;
  }
}

}  // namespace

std::unordered_set<std::string> firstOpen(const SceneGraph& scene) {
  std::unordered_set<std::string> open;
  choose(scene, 0, open);
  return open;
}

LayoutWorker::LayoutWorker(QObject* receiver, const TextWidths& widths,
                           std::function<void(LayoutReply)> receive)
    : receiver_(receiver),
      receive_(std::move(receive)),
      inThread_(new QObject),
      hierarchy_(std::make_shared<Hierarchy>(widths)) {
  thread_.setObjectName(QStringLiteral("graph layout"));
  inThread_->moveToThread(&thread_);
  QObject::connect(&thread_, &QThread::finished, inThread_, &QObject::deleteLater);
  thread_.start(QThread::LowPriority);
}

LayoutWorker::~LayoutWorker() {
  stop_.request_stop();
  thread_.quit();
  thread_.wait();
}

void LayoutWorker::request(LayoutRequest request) {
  stop_.request_stop();
  stop_ = std::stop_source();
  pending_ = true;
  const uint64_t generation = ++generation_;
  QMetaObject::invokeMethod(
      inThread_,
      [this, generation, request = std::move(request), stop = stop_.get_token(), hierarchy = hierarchy_] {
        if (stop.stop_requested()) return;
        std::optional<LayoutReply> reply = work(*hierarchy, request, stop);
        if (!reply) return;
        // The destructor waits for this thread, and Qt drops what is posted to a receiver that is gone.
        QMetaObject::invokeMethod(
            receiver_, [this, generation, reply = std::move(*reply)] { deliver(generation, reply); },
            Qt::QueuedConnection);
      },
      Qt::QueuedConnection);
}

void LayoutWorker::cancel() {
  stop_.request_stop();
  ++generation_;
  pending_ = false;
}

void LayoutWorker::deliver(uint64_t generation, LayoutReply reply) {
  if (generation != generation_) return;
  pending_ = false;
  receive_(std::move(reply));
}

}  // namespace orrery::ui
