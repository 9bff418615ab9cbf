#include "engine/api/replies.h"

namespace orrery::api {

Replies::Replies()
    : inbox_(std::make_shared<generate::Inbox>()),
      thread_([this] { inbox_->work_until([this] { return closing_ && running_.empty(); }); }) {}

Replies::~Replies() {
  inbox_->post([this] {
    closing_ = true;
    for (std::stop_source& stop : running_) stop.request_stop();
  });
  thread_.join();
}

std::stop_source Replies::begin(Begin begin) {
  std::stop_source stop;
  inbox_->post([this, stop, begin = std::move(begin)] {
    const auto place = running_.insert(running_.end(), stop);
    begin(
        stop.get_token(), [inbox = inbox_](generate::Inbox::Work work) { inbox->post(std::move(work)); },
        [this, place] { running_.erase(place); });
  });
  return stop;
}

}  // namespace orrery::api
