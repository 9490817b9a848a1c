#include "lab/real/namespaces.h"

#include <unistd.h>

#include "lab/real/programs.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

class Namespaces : public Deployment {
 public:
  const DeploymentKind& kind() const override { return kind_; }
  Problems check(const std::vector<std::string>& programs) override;
  Problems claim(const std::string&, const fs::path&,
                 const std::vector<std::string>&) const override {
    return {};
  }
  fs::path inside(const fs::path& folder) const override { return folder; }
  fs::path seen(const fs::path& path) const override { return path; }
  ChildProcess::Start start(const std::string& fabric, const fs::path& folder,
                            const RealNode& node) const override;
  Problems clear(const std::string&) const override { return {}; }  // they go with their processes
  std::vector<std::string> fabrics() const override { return {}; }
  std::string look_into(const std::string& fabric, const fs::path& folder,
                        const std::string& node) const override;

 private:
  const DeploymentKind kind_{};
};

Problems Namespaces::check(const std::vector<std::string>& programs) {
  if (geteuid() != 0)
    return {
        "real switches need root, for network namespaces; --containers needs it only as the "
        "container engine does"};
  for (const std::string& program : programs)
    if (const fs::path path = program_beside(program); access(path.c_str(), X_OK) != 0)
      return {path.string() + ": there is no such program; it is built with eddylab"};
  return {};
}

ChildProcess::Start Namespaces::start(const std::string&, const fs::path&,
                                      const RealNode& node) const {
  ChildProcess::Start start{
      .words = {program_beside(node.program)}, .log = node.log, .own_network = true};
  start.words.insert(start.words.end(), node.arguments.begin(), node.arguments.end());
  return start;
}

std::string Namespaces::look_into(const std::string&, const fs::path& folder,
                                  const std::string& node) const {
  return "eddyctl --socket " + (folder / (node + ".sock")).string() + " top";
}

}  // namespace

std::unique_ptr<Deployment> make_namespaces() {
  return std::make_unique<Namespaces>();
}

}  // namespace eddy::lab
