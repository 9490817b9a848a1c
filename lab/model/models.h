// The figures that papers compute: what each is computed for, and what comes out as rows, table and
// chart.
//
// A model is computed alone, or with a run's numbers beside it. Owner: the caller. Cost: of lf-8 a
// few seconds, of the others less; a comparison reads the run's series. Source: reference E.3 and
// E.4, fc-4, fc-5, lf-7 and lf-8.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/figures/svg.h"
#include "lab/model/settings.h"
#include "lab/results/result_keys.h"
#include "lab/results/variants.h"
#include "net/result.h"

namespace eddy::lab {

struct ModelTable {
  Json rows = Json::array();       // an object a row
  TextRows text;                   // with the head
  std::vector<std::string> notes;  // a line each, for below
};
struct ModelFigure {
  ModelTable table;
  Chart chart;
};

struct Model {
  std::string_view id;
  std::string_view title;
  std::string_view source;
  std::span<const ModelKey> keys;
  Result<ModelFigure> (*compute)(const ModelSettings& settings);
  // A run's numbers beside the model's for that run: of a folder OUT/EXPERIMENT/SIZE. Null: it has
  // nothing that runs show.
  Result<ModelTable> (*compare)(const ModelSettings& settings,
                                const std::filesystem::path& results);
};
std::span<const Model> models();
// Null: there is none of that name.
const Model* find_model(std::string_view id);

// Of letflow_models.cpp and memory_models.cpp, in the order of the list.
std::span<const Model> letflow_models();
std::span<const Model> memory_models();

}  // namespace eddy::lab
