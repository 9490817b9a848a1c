#include "switch/control/serve/paging.h"

#include <algorithm>
#include <charconv>

namespace eddy::control {
namespace {

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// One name=value; the problem, or empty.
std::string apply(std::string_view name, std::string_view value, PageRequest& request) {
  const std::string quoted = std::string(name) + "=" + std::string(value);
  if (name == "port") {
    request.options.port = std::string(value);
    return "";
  }
  const std::optional<uint64_t> number = parse_number(value);
  if (name == "page" || name == "snapshot") {
    if (!number) return quoted + ": not a whole number";
    if (name == "page") request.page = *number;
    if (name == "snapshot") request.snapshot = number;
    return "";
  }
  if (name == "leaf" || name == "top") {
    if (!number) return quoted + ": not a whole number";
    (name == "leaf" ? request.options.leaf : request.options.top) = number;
    return "";
  }
  if (name != "all") return quoted + ": unknown; valid are page, snapshot, all, port, leaf, top";
  if (!number || *number > 1) return quoted + ": all is 0 or 1";
  request.options.all = *number == 1;
  return "";
}

Json shortened(const Json& row) {
  Json out = row;
  for (auto& [key, value] : out.items()) {
    if (!value.is_string()) continue;
    const std::string& text = value.get_ref<const std::string&>();
    if (text.size() > kPageTextBytes) value = text.substr(0, kPageTextBytes - 3) + "...";
  }
  return out;
}

Json error(std::string text) {
  return Json{{"error", std::move(text)}};
}

}  // namespace

Result<PageRequest> parse_page_request(std::string_view parameters) {
  PageRequest request;
  while (!parameters.empty()) {
    const size_t comma = std::min(parameters.find(','), parameters.size());
    const std::string_view item = parameters.substr(0, comma);
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return Result<PageRequest>::failure(std::string(item) + ": parameters are name=value");
    std::string problem = apply(item.substr(0, equals), item.substr(equals + 1), request);
    if (!problem.empty()) return Result<PageRequest>::failure(std::move(problem));
  }
  return request;
}

std::vector<size_t> page_starts(const Json& rows) {
  std::vector<size_t> starts{0};
  size_t bytes = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t row = shortened(rows[i]).dump().size() + std::to_string(i).size() + 4;
    const bool full = bytes + row > kPageBytes || i - starts.back() >= kPageRows;
    if (full && i > starts.back()) {
      starts.push_back(i);
      bytes = 0;
    }
    bytes += row;
  }
  return starts;
}

Json cut_page(const Json& report, const std::vector<size_t>& starts, uint64_t page,
              uint64_t snapshot) {
  const Json& rows = report.at("rows");
  if (page >= starts.size())
    return error("page " + std::to_string(page) + ": there are " + std::to_string(starts.size()));
  const size_t end = page + 1 < starts.size() ? starts[page + 1] : rows.size();
  Json out = Json::object();
  for (const auto& [key, value] : report.items())
    if (key != "rows") out[key] = value;
  out["page"] = page;
  out["pages"] = starts.size();
  out["snapshot"] = snapshot;
  Json& cut = out["rows"] = Json::object();
  for (size_t i = starts[page]; i < end; ++i) cut[std::to_string(i)] = shortened(rows[i]);
  return out;
}

Json PageCache::page(const std::string& key, const PageRequest& request, const Make& make) {
  if (request.snapshot) {
    const auto kept = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) {
      return k.snapshot == *request.snapshot && k.key == key;
    });
    if (kept == kept_.end())
      return error("snapshot " + std::to_string(*request.snapshot) + " is no longer kept");
    return cut_page(kept->report, kept->starts, request.page, kept->snapshot);
  }
  Json report = make();
  if (!report.contains("rows")) return report;  // an error of its own
  std::vector<size_t> starts = page_starts(report.at("rows"));
  kept_.push_back({next_snapshot_++, key, std::move(report), std::move(starts)});
  if (kept_.size() > kSnapshotsKept) kept_.pop_front();
  const Kept& newest = kept_.back();
  return cut_page(newest.report, newest.starts, request.page, newest.snapshot);
}

}  // namespace eddy::control
