// A map of bounded size: what was not asked for the longest makes room.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace orrery::runtime {

template <class Key, class Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(size_t limit) : limit_(limit) {}

  /// Null when it is not there. What is found is the last to go.
  Value* find(const Key& key) {
    const auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    return &entries_.front().second;
  }

  /// The value of the key: the one that is there, or an empty one. The reference is good until the next call.
  Value& get(const Key& key) {
    if (Value* known = find(key)) return *known;
    if (entries_.size() >= limit_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, Value());
    index_.emplace(key, entries_.begin());
    return entries_.front().second;
  }

  void clear() {
    index_.clear();
    entries_.clear();
  }
  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<const Key, Value>>;
  size_t limit_;
  Entries entries_;  // most recently used first
  std::map<Key, typename Entries::iterator> index_;
};

}  // namespace orrery::runtime
