// What a result.json says of each item of the traffic, as tables by variant and item.
//
// Owner: the caller. Cost: linear in the result. Source: reference D.5.
#pragma once

#include <string>
#include <vector>

#include "lab/results/cells.h"
#include "lab/results/variants.h"

namespace eddy::lab {

// The names of the items in the runs, in the order of the traffic.
std::vector<std::string> tenant_names(const std::vector<VariantRuns>& variants);

CellTable tenant_table(const std::vector<VariantRuns>& variants);
CellTable request_table(const std::vector<VariantRuns>& variants);     // incasts and collectives
CellTable tenant_bin_table(const std::vector<VariantRuns>& variants);  // by tenths of flow sizes

struct TitledTable {
  std::string title;
  CellTable table;
};
// Those of them that say more than the tables of whole runs; a result with one item of plain flows
// has none.
std::vector<TitledTable> tenant_tables(const std::vector<VariantRuns>& variants);

// The keys of an item that runs are compared by.
struct ComparedKey {
  std::string head;
  std::string key;
  double scale = 1;
};
std::vector<ComparedKey> compared_tenant_keys(const std::vector<VariantRuns>& variants);
// What happens to the flows of item `of`: their slowdown, that of the short ones, their FCT and
// order; and beside it the completion of requests of every item.
std::vector<ComparedKey> compared_keys_of(const std::string& of,
                                          const std::vector<VariantRuns>& variants);

}  // namespace eddy::lab
