#include "switch/control/serve/telemetry.h"

#include <rte_telemetry.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "switch/control/serve/paging.h"

namespace eddy::control {
namespace {

constexpr std::string_view kPrefix = "/eddy/";

// Telemetry's callbacks carry no context, hence one source a process.
struct Registry {
  std::mutex mutex;
  bool registered = false;
  ReportSource source;
  PageCache pages;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

// Adds a flat value or an object of such; what telemetry cannot carry does not occur in reports.
int add(rte_tel_data* into, const std::string& key, const Json& value) {
  if (value.is_string())
    return rte_tel_data_add_dict_string(into, key.c_str(),
                                        value.get_ref<const std::string&>().c_str());
  if (value.is_number_integer())
    return rte_tel_data_add_dict_u64(into, key.c_str(), value.get<uint64_t>());
  std::unique_ptr<rte_tel_data, decltype(&rte_tel_data_free)> nested(rte_tel_data_alloc(),
                                                                     rte_tel_data_free);
  if (!nested) return -ENOMEM;
  rte_tel_data_start_dict(nested.get());
  for (const auto& [name, member] : value.items())
    if (const int error = add(nested.get(), name, member); error < 0) return error;
  const int error = rte_tel_data_add_dict_container(into, key.c_str(), nested.get(), 0);
  if (error == 0) nested.release();  // DPDK frees it after writing the answer
  return error;
}

// What is asked, for the snapshots.
std::string key_of(Report report, const ReportOptions& options) {
  const auto number = [](const std::optional<uint64_t>& n) { return n ? std::to_string(*n) : ""; };
  return std::string(to_string(report)) + (options.all ? " all " : " ") + number(options.leaf) +
         " " + number(options.top) + " " + options.port.value_or("");
}

Json answer(Report report, const char* parameters) {
  const std::string_view text = parameters == nullptr ? "" : parameters;
  Result<PageRequest> request = parse_page_request(text);
  if (!request.ok()) return Json{{"error", request.problems().front()}};
  const ReportOptions& options = request->options;
  const std::string key = key_of(report, options);
  Registry& shared = registry();
  const std::lock_guard lock(shared.mutex);
  if (!shared.source) return Json{{"error", "the switch is being taken down"}};
  return shared.pages.page(key, *request, [&] { return shared.source(report, options); });
}

int on_command(const char* command, const char* parameters, rte_tel_data* data) {
  const auto report = parse_report(std::string_view(command).substr(kPrefix.size()));
  if (!report) return -EINVAL;
  const Json body = answer(*report, parameters);
  rte_tel_data_start_dict(data);
  for (const auto& [key, value] : body.items())
    if (const int error = add(data, key, value); error < 0) return error;
  return 0;
}

}  // namespace

Problems set_telemetry_source(ReportSource source) {
  Registry& shared = registry();
  const std::lock_guard lock(shared.mutex);
  shared.source = std::move(source);
  if (shared.registered || !shared.source) return {};
  for (const Word& word : report_words()) {
    const std::string command = std::string(kPrefix) + std::string(word.name);
    const std::string help =
        std::string(word.help) + ". Parameters: page=K,all=1,port=NAME,leaf=N,top=N";
    const int error = rte_telemetry_register_cmd(command.c_str(), on_command, help.c_str());
    if (error != 0) return {"telemetry command " + command + ": " + std::strerror(-error)};
  }
  shared.registered = true;
  return {};
}

}  // namespace eddy::control
