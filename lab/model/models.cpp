#include "lab/model/models.h"

#include <algorithm>

namespace eddy::lab {

std::span<const Model> models() {
  static const std::vector<Model> all = [] {
    std::vector<Model> list(letflow_models().begin(), letflow_models().end());
    list.insert(list.end(), memory_models().begin(), memory_models().end());
    return list;
  }();
  return all;
}

const Model* find_model(std::string_view id) {
  const auto found = std::ranges::find(models(), id, &Model::id);
  return found == models().end() ? nullptr : &*found;
}

}  // namespace eddy::lab
