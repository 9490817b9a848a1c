#include "switch/control/ctl/ask.h"

#include <nlohmann/json.hpp>

namespace eddy::control {

Result<Json> ask(const std::string& socket, const Json& request, const Patience& patience) {
  Result<Json> answer = request_over_socket(socket, request, patience);
  if (!answer.ok()) return answer.problems();
  if (!answer->value("ok", false)) {
    Problems problems = answer->value("problems", Problems{});
    if (problems.empty())
      problems.push_back(socket + ": the answer has neither result nor problems");
    return problems;
  }
  return answer->value("result", Json::object());
}

Result<Json> ask_report(const std::string& socket, Report report, const ReportOptions& options,
                        const Patience& patience) {
  Json request{{"command", "show"}, {"report", std::string(to_string(report))}};
  request["all"] = options.all;
  if (options.port) request["port"] = *options.port;
  if (options.leaf) request["leaf"] = *options.leaf;
  if (options.top) request["top"] = *options.top;
  Result<Json> result = ask(socket, request, patience);
  if (!result.ok()) return result;
  if (Problems problems = check_report(result.value()); !problems.empty()) return problems;
  return result;
}

std::string json_line(const Json& value) {
  return value.dump(-1, ' ', true) + "\n";
}

}  // namespace eddy::control
