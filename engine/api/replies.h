// The replies of a session that nobody waits for: one thread begins them and tells of them all, in order, so
// that whoever listens needs no lock of his own, and no step of the model waits for a listener.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <thread>

#include "engine/generate/generator.h"
#include "engine/generate/inbox.h"

namespace orrery::api {

class Replies {
 public:
  /// Begins a reply, on the thread; `post` hands further work to it. `end` is called once, there, after the
  /// last event of the reply.
  using Begin = std::function<void(const std::stop_token& stop, const generate::Post& post,
                                   const std::function<void()>& end)>;

  Replies();
  /// Asks all that run to stop, and waits until they have ended.
  ~Replies();
  Replies(const Replies&) = delete;
  Replies& operator=(const Replies&) = delete;

  std::stop_source begin(Begin begin);

 private:
  // Used on the thread only.
  std::list<std::stop_source> running_;
  bool closing_ = false;

  const std::shared_ptr<generate::Inbox> inbox_;
  std::thread thread_;  // last: ends before what it uses
};

}  // namespace orrery::api
