#include "switch/control/ctl/dossier.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "switch/control/ctl/ask.h"
#include "switch/control/ctl/machine.h"
#include "switch/control/ctl/telemetry_client.h"
#include "system/run_folder.h"

namespace eddy::control {
namespace {

std::string pretty(const Json& value) {
  return value.dump(1, ' ', true) + "\n";
}

class Clerk {
 public:
  explicit Clerk(const Target& target) : target_(target) { dossier_.reading.name = target.name; }

  Dossier run() {
    note_process();
    note_configuration();
    for (const Word& word : report_words())
      if (answers_) note_report(*parse_report(word.name));
    if (answers_) note_dpdk();
    return std::move(dossier_);
  }

 private:
  void problem(const std::string& what) {
    dossier_.problems.push_back(what);
    if (!answers_) dossier_.reading.problem = what;
  }

  // A socket on which nobody answers once is not asked again: every question would take its time.
  void note_failure(const Problems& problems) {
    if (problems.front().starts_with(target_.socket)) answers_ = false;
    problem(problems.front() + (answers_ ? "" : "; nothing else was asked"));
  }

  void note_process() {
    const int process = peer_process(target_.socket);
    if (process > 0) dossier_.files["process.txt"] = process_text(process);
  }

  void note_configuration() {
    const Result<Json> said = ask(target_.socket, {{"command", "configuration"}});
    if (!said.ok()) return note_failure(said.problems());
    const Json& result = said.value();
    name_ = result.value("switch", "");
    dossier_.files["configuration_in_force.yaml"] = result.value("in_force", "");
    if (result.contains("file"))
      dossier_.files["configuration_file.yaml"] = result.value("file", "");
    else
      problem("its file: " + result.value("file_problem", "unknown"));
    dossier_.files["versions.txt"] = result.value("version", "") + "\n" + result.value("dpdk", "") +
                                     "\nconfiguration: " + result.value("path", "") + "\n";
  }

  void note_report(Report report) {
    const ReportOptions options{.all = true};
    const Result<Json> said = ask_report(target_.socket, report, options);
    const std::string name(to_string(report));
    if (!said.ok()) return note_failure(said.problems());
    dossier_.files["reports/" + name + ".json"] = pretty(said.value());
    if (report != Report::ports) return;
    SwitchReading reading{
        .name = target_.name, .presence = Presence::answers, .ports = said.value()};
    (void)links_report("", std::span(&reading, 1));  // throws what others would meet
    (void)switches_report("", std::span(&reading, 1));
    dossier_.reading = std::move(reading);
  }

  void note_dpdk() {
    for (const std::string& base :
         {dpdk_run_folder().string(), std::string(kSocketDirectory) + "/dpdk"}) {
      const auto sockets = telemetry_sockets(base);
      const auto found = sockets.find(name_);
      if (found == sockets.end()) continue;
      const Result<Json> view = dpdk_view(found->second);
      if (!view.ok()) return problem("DPDK's view: " + view.problems().front());
      dossier_.files["dpdk.json"] = pretty(view.value());
      return;
    }
    problem(
        "DPDK's view: its telemetry is not within reach, as where the switch is in a container");
  }

  const Target& target_;
  Dossier dossier_;
  std::string name_;  // its own, which may differ from its socket's
  bool answers_ = true;
};

}  // namespace

Dossier dossier_of(const Target& target) {
  try {
    return Clerk(target).run();
  } catch (const std::exception& error) {  // of JSON: whoever answered is no switch
    Dossier out;
    out.reading.name = target.name;
    out.problems = {target.socket + ": the answer is not as expected: " + error.what()};
    return out;
  }
}

}  // namespace eddy::control
