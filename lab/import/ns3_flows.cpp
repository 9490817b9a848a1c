#include "lab/import/ns3_flows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "lab/fabric/text_table.h"
#include "lab/import/ns3_units.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

constexpr size_t kHpccColumns = 6;
constexpr size_t kConweaveColumns = 5;
constexpr std::string_view kBlanks = " \t\r";

struct Row {
  int64_t source, destination, group, port, size;
  Duration start;
};

// Words between blanks of one line; those beyond the array are counted.
struct Words {
  std::array<std::string_view, kHpccColumns> words;
  size_t count = 0;
};

Words words_of(std::string_view line) {
  Words out;
  size_t at = line.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    if (out.count < out.words.size()) out.words[out.count] = line.substr(at, end - at);
    ++out.count;
    at = line.find_first_not_of(kBlanks, end);
  }
  return out;
}

std::string seconds(Duration time) {
  constexpr int64_t kSecond = 1'000'000'000'000;
  std::string text = fmt::format("{}.{:012}", time.ps() / kSecond, time.ps() % kSecond);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

class Reader {
 public:
  Reader(const Ns3FlowFile& file, Ns3Dialect dialect, const Ns3Topology& topology,
         ImportReport& report, Problems& problems)
      : file_(file),
        dialect_(dialect),
        columns_(dialect == Ns3Dialect::hpcc ? kHpccColumns : kConweaveColumns),
        topology_(topology),
        report_(report),
        problems_(problems) {}

  std::optional<Ns3Flows> read() {
    const size_t before = problems_.size();
    read_lines();
    if (problems_.size() > before) return std::nullopt;
    note();
    return made_over();
  }

 private:
  void read_lines() {
    std::string_view rest = file_.text;
    int64_t wanted = -1;
    while (!rest.empty()) {
      ++line_;
      const size_t end = std::min(rest.find('\n'), rest.size());
      const Words words = words_of(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (words.count == 0) continue;
      if (wanted < 0) {
        wanted = read_count(words);
        if (wanted < 0) return;
      } else if (static_cast<int64_t>(seen_) < wanted) {
        ++seen_;
        read_flow(words);
        if (told_ > WordLines::kMaxProblems) return;
      } else if (++beyond_ == 1) {
        first_beyond_ = line_;
      }
    }
    if (wanted < 0) return problem("is empty, its first line is to say how many flows there are");
    if (static_cast<int64_t>(seen_) < wanted)
      problem(fmt::format("the file ends {} flows before the {} that its first line says",
                          wanted - static_cast<int64_t>(seen_), wanted));
  }

  // -1: a problem.
  int64_t read_count(const Words& words) {
    const auto count = parse_integer(words.words[0]);
    if (words.count == 1 && count && count.value() >= 1 && count.value() <= kMostFlows)
      return count.value();
    problem(
        fmt::format("{} is not the number of flows, 1 to {} would be valid; the first line has "
                    "it alone",
                    in_quotes(words.words[0]), kMostFlows));
    return -1;
  }

  void read_flow(const Words& words) {
    if (words.count != columns_) {
      const bool other = words.count == kHpccColumns || words.count == kConweaveColumns;
      return problem(
          fmt::format("{} words, a flow of {} has {}{}", words.count, name_of(dialect_), columns_,
                      dialect_ == Ns3Dialect::hpcc
                          ? fmt::format(": src dst pg dport size start{}",
                                        other ? " (eddylab import conweave reads 5)" : "")
                          : fmt::format(": src dst pg size start{}",
                                        other ? " (eddylab import hpcc reads 6)" : "")));
    }
    const bool port = columns_ == kHpccColumns;
    Row row{};
    bool good = host(words.words[0], row.source);
    good &= host(words.words[1], row.destination);
    good &= number(words.words[2], 0, 7, "a priority group", row.group);
    if (port) good &= number(words.words[3], 0, UINT16_MAX, "a port", row.port);
    good &= number(words.words[port ? 4 : 3], 0, int64_t{1} << 40, "a size in octets", row.size);
    good &= time(words.words[port ? 5 : 4], row.start);
    if (!good) return;
    if (row.source == row.destination)
      return problem(fmt::format("a flow from host {} to itself", row.source));
    if (row.size == 0) {
      ++empty_;
      row.size = 1;
    }
    if (!rows_.empty() && row.start < rows_.back().start) ++early_;
    ++groups_[row.group];
    rows_.push_back(row);
  }

  bool host(std::string_view word, int64_t& to) {
    const auto parsed = parse_integer(word);
    if (parsed && topology_.is_host(parsed.value())) {
      to = parsed.value();
      return true;
    }
    problem(parsed && parsed.value() >= 0 && parsed.value() < topology_.nodes
                ? fmt::format("node {} is a switch in the topology file, flows are between hosts",
                              parsed.value())
                : fmt::format("{} is no host of the topology file, which has the nodes 0 to {}",
                              in_quotes(word), topology_.nodes - 1));
    return false;
  }

  bool number(std::string_view word, int64_t least, int64_t most, const char* what, int64_t& to) {
    const auto parsed = parse_integer(word);
    if (parsed && parsed.value() >= least && parsed.value() <= most) {
      to = parsed.value();
      return true;
    }
    problem(
        fmt::format("{} is not {}, {} to {} would be valid", in_quotes(word), what, least, most));
    return false;
  }

  bool time(std::string_view word, Duration& to) {
    constexpr Duration kMost = Duration::seconds(1'000'000);
    const auto parsed = parse_real(word);
    const auto exact = parse_ns3_time(word);
    if (parsed && exact && exact.value() <= kMost) {
      to = exact.value();
      return true;
    }
    problem(in_quotes(word) + " is no start in seconds");
    return false;
  }

  void problem(const std::string& text) {
    if (++told_ <= WordLines::kMaxProblems)
      problems_.push_back(fmt::format("{}:{}: {}", file_.name, std::max(line_, 1), text));
  }

  void note() {
    report_.add({Treatment::taken, file_.name, 0, fmt::format("{} flows", rows_.size()),
                 "flow.txt, traffic.0.file"});
    if (beyond_ > 0)
      report_.add({Treatment::ignored, file_.name, first_beyond_,
                   fmt::format("{} lines from here on", beyond_),
                   "behind the flows that the first line counts"});
    if (early_ > 0)
      report_.add({Treatment::approximated, file_.name, 0, fmt::format("{} flows", early_),
                   "start before the one above them; they are put in order, where that program "
                   "starts them late"});
    if (empty_ > 0)
      report_.add({Treatment::approximated, file_.name, 0, fmt::format("{} flows", empty_),
                   "are empty; they have one octet"});
    for (const auto& [group, count] : groups_)
      if (group != 3)
        report_.add({Treatment::approximated, file_.name, 0,
                     fmt::format("{} flows with pg {}", count, group),
                     "all flows have host.priority, 3"});
  }

  Ns3Flows made_over() {
    std::ranges::stable_sort(rows_, {}, &Row::start);
    Ns3Flows out;
    out.count = rows_.size();
    out.first = rows_.front().start;
    out.last = rows_.back().start;
    if (groups_.size() == 1) out.group = groups_.begin()->first;
    out.text = fmt::format("{}\n", rows_.size());
    for (const Row& row : rows_) {
      const std::string port = columns_ == kHpccColumns ? fmt::format(" {}", row.port) : "";
      out.text += fmt::format("{} {} 3{} {} {}\n", row.source, row.destination, port, row.size,
                              seconds(row.start));
    }
    return out;
  }

  const Ns3FlowFile& file_;
  Ns3Dialect dialect_;
  size_t columns_;
  const Ns3Topology& topology_;
  ImportReport& report_;
  Problems& problems_;
  int line_ = 0;
  size_t seen_ = 0;
  size_t told_ = 0;
  size_t beyond_ = 0;
  int first_beyond_ = 0;
  size_t early_ = 0;
  size_t empty_ = 0;
  std::map<int64_t, size_t> groups_;
  std::vector<Row> rows_;
};

}  // namespace

std::optional<Ns3Flows> read_ns3_flows(const Ns3FlowFile& file, Ns3Dialect dialect,
                                       const Ns3Topology& topology, ImportReport& report,
                                       Problems& problems) {
  return Reader(file, dialect, topology, report, problems).read();
}

}  // namespace eddy::lab
