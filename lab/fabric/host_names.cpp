#include "lab/fabric/host_names.h"

#include <algorithm>
#include <optional>

#include "lab/fabric/text_table.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A number from 1 without leading zeros.
std::optional<size_t> parse_ordinal(std::string_view text) {
  if (text.empty() || text.front() == '0' || !std::ranges::all_of(text, is_digit))
    return std::nullopt;
  const auto number = parse_integer(text);
  return number ? std::optional(static_cast<size_t>(number.value())) : std::nullopt;
}

struct Range {
  std::string_view before;
  size_t first = 0;
  size_t last = 0;
  std::string_view after;
};

// "leaf1.host2-5": the first number - number that ends a part of the name.
std::optional<Range> parse_range(std::string_view name) {
  for (size_t dash = name.find('-'); dash != std::string_view::npos;
       dash = name.find('-', dash + 1)) {
    size_t start = dash;
    while (start > 0 && is_digit(name[start - 1])) --start;
    size_t end = dash + 1;
    while (end < name.size() && is_digit(name[end])) ++end;
    const auto first = parse_ordinal(name.substr(start, dash - start));
    const auto last = parse_ordinal(name.substr(dash + 1, end - dash - 1));
    const bool ends_part = end == name.size() || name[end] == '.';
    if (first && last && *first <= *last && ends_part)
      return Range{name.substr(0, start), *first, *last, name.substr(end)};
  }
  return std::nullopt;
}

}  // namespace

HostNames::HostNames(const Topology& topology) : topology_(topology) {
  for (uint32_t i = 0; i < topology.hosts.size(); ++i) {
    const Topology::Host& host = topology.hosts[i];
    hosts_.emplace(host.name, i);
    of_switch_[topology.switches[host.switch_index].name].push_back(i);
  }
}

Result<std::vector<uint32_t>> HostNames::find(std::string_view selector) const {
  std::vector<uint32_t> out;
  if (add_exact(selector, out) || add_range(selector, out)) return out;
  return Result<std::vector<uint32_t>>::failure("unknown host " + in_quotes(selector) + ", " +
                                                valid());
}

bool HostNames::add_exact(std::string_view name, std::vector<uint32_t>& out) const {
  if (name == "all") {
    for (uint32_t i = 0; i < topology_.hosts.size(); ++i) out.push_back(i);
    return true;
  }
  if (const auto host = hosts_.find(name); host != hosts_.end()) {
    out.push_back(host->second);
    return true;
  }
  if (const auto leaf = of_switch_.find(name); leaf != of_switch_.end()) {
    out.insert(out.end(), leaf->second.begin(), leaf->second.end());
    return true;
  }
  constexpr std::string_view kHost = "host";
  const size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  const auto number = last.starts_with(kHost) ? parse_ordinal(last.substr(4)) : std::nullopt;
  if (!number) return false;
  if (dot == std::string_view::npos) {
    if (*number > topology_.hosts.size()) return false;
    out.push_back(static_cast<uint32_t>(*number - 1));
    return true;
  }
  const auto leaf = of_switch_.find(name.substr(0, dot));
  if (leaf == of_switch_.end() || *number > leaf->second.size()) return false;
  out.push_back(leaf->second[*number - 1]);
  return true;
}

bool HostNames::add_range(std::string_view name, std::vector<uint32_t>& out) const {
  const auto range = parse_range(name);
  if (!range || range->last - range->first >= topology_.hosts.size()) return false;
  for (size_t n = range->first; n <= range->last; ++n) {
    const std::string one =
        std::string(range->before) + std::to_string(n) + std::string(range->after);
    if (!add_exact(one, out) && !add_range(one, out)) return false;
  }
  return true;
}

std::string HostNames::name_of(uint32_t host) const {
  const std::string& leaf = topology_.switches[topology_.hosts[host].switch_index].name;
  const auto& hosts = of_switch_.at(leaf);
  const auto place = std::ranges::find(hosts, host) - hosts.begin();
  return leaf + ".host" + std::to_string(place + 1);
}

std::string HostNames::valid() const {
  std::string text = "valid are all, host1 to host" + std::to_string(topology_.hosts.size());
  if (!of_switch_.empty()) {
    const auto& [name, hosts] = *of_switch_.begin();
    text += ", " + name + " and other switches with hosts, " + name + ".host1 to " + name +
            ".host" + std::to_string(hosts.size()) + ", ranges such as host1-2";
  }
  return text;
}

}  // namespace eddy::lab
