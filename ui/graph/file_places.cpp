#include "ui/graph/file_places.h"

#include "ui/graph/node_box.h"

namespace orrery::ui {

api::Places filePlacesOf(const Arrangement& arrangement) {
  api::Places places;
  for (const auto& [group, kept] : arrangement.groups)
    for (const std::string& child : kept.byHand)
      if (const auto box = kept.boxes.find(child); box != kept.boxes.end())
        places[child] = {box->second.x + box->second.w / 2, box->second.y};
  return places;
}

Arrangement arrangementOf(const api::Places& places) {
  Arrangement arrangement;
  for (const auto& [path, place] : places) {
    const size_t dot = path.rfind('.');
    arrangement.put(dot == std::string::npos ? std::string() : path.substr(0, dot), path,
                    {place.x, place.y, 0, kNodeHeight});
  }
  return arrangement;
}

}  // namespace orrery::ui
