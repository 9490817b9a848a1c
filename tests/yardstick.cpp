// A fixed piece of work: how long compiling this takes says how fast the machine is now
// (scripts/lib/yardstick.py). It belongs to no target, and whoever changes it measures
// tests/cpu_budget.txt anew.
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

int main(int argc, char** argv) {
  std::map<std::string, std::vector<std::variant<int, double, std::string>>> rows;
  const std::regex words("([a-z]+)=([0-9]+)");
  for (int at = 1; at < argc; ++at) {
    std::smatch found;
    const std::string text = argv[at];
    if (std::regex_match(text, found, words)) rows[found[1]].emplace_back(std::stoi(found[2]));
  }
  std::ostringstream out;
  for (const auto& [name, values] : rows) out << name << values.size();
  return static_cast<int>(out.str().size());
}
