#include "lab/import/htsim_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "lab/fabric/text_table.h"
#include "lab/import/ns3_units.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

using Line = WordLines::Line;
using Word = WordLines::Word;

constexpr int64_t kMostFlows = int64_t{1} << 24;

struct Row {
  int64_t source = 0;
  int64_t destination = 0;
  int64_t size = 0;
  std::optional<Duration> start;
  bool triggered = false;
};

class Reader {
 public:
  Reader(WordLines& file, const std::string& name, int64_t hosts, ImportReport& report)
      : file_(file), name_(name), hosts_(hosts), report_(report) {}

  std::optional<HtsimMatrix> read() {
    for (const Line& line : file_.lines()) read_line(line);
    if (file_.problems().empty()) check_counts();
    if (file_.problems().empty() && rows_.empty())
      file_.problem(file_.last_line(), "there is no flow that starts by itself");
    if (!file_.problems().empty()) return std::nullopt;
    note();
    return made_over();
  }

 private:
  void read_line(const Line& line) {
    const std::string_view word = line[0].text;
    if (word.find("->") != std::string_view::npos) return read_flow(line);
    for (const char* head : {"Nodes", "Connections", "Triggers", "Failures"})
      if (word == head) {
        if (line.size() < 2)
          return file_.problem(line[0], fmt::format("a number is missing behind '{}'", head));
        if (const auto number = file_.number(line[1], 0, kMostFlows))
          heads_[head] = {line[1], *number};
        if (std::string_view(head) == "Nodes")
          report_.add({Treatment::ignored, name_, line[0].line,
                       fmt::format("Nodes {}", std::string(line[1].text)),
                       "the hosts are those of the topology"});
        return;
      }
    if (word == "trigger") return count(line, triggers_, first_trigger_);
    if (word == "failure") return count(line, failures_, first_failure_);
    file_.problem(line[0], in_quotes(word) +
                               " is nothing that a connection matrix has, such as "
                               "'0->1 start 0 size 1000'");
  }

  static void count(const Line& line, size_t& number, int& first) {
    if (number++ == 0) first = line[0].line;
  }

  void read_flow(const Line& line) {
    ++connections_;
    Row row;
    if (!read_ends(line[0], row)) return;
    const size_t before = file_.problems().size();
    bool sized = false;
    for (size_t i = 1; i < line.size(); ++i) {
      const std::string_view key = line[i].text;
      if (key == "addon") continue;
      if (i + 1 >= line.size()) {
        file_.problem(line[i], fmt::format("a value is missing behind {}", in_quotes(key)));
        return;
      }
      const Word& value = line[++i];
      if (key == "start") {
        read_start(value, row);
      } else if (key == "size") {
        sized = true;
        read_size(value, row);
      } else if (key == "trigger") {
        row.triggered = true;
      } else if (key != "id" && key != "prio" && key != "send_done_trigger" &&
                 key != "recv_done_trigger") {
        file_.problem(line[i - 1], in_quotes(key) +
                                       " is nothing that a flow has, valid are start, "
                                       "size, id, prio, trigger, send_done_trigger, "
                                       "recv_done_trigger");
      } else if (key == "prio") {
        count(line, prios_, first_prio_);
      }
    }
    if (file_.problems().size() > before) return;
    if (!sized)
      return file_.problem(line[0], "a flow without 'size' has no end, which flows have here");
    if (!row.start && !row.triggered)
      return file_.problem(line[0], "a flow has 'start' or 'trigger'");
    if (row.triggered) return count(line, triggered_, first_triggered_);
    rows_.push_back(row);
  }

  bool read_ends(const Word& word, Row& row) {
    const size_t arrow = word.text.find("->");
    const auto source = parse_integer(word.text.substr(0, arrow));
    const auto destination = parse_integer(word.text.substr(arrow + 2));
    const auto is_host = [&](const Result<int64_t>& number) {
      return number.ok() && number.value() >= 0 && number.value() < hosts_;
    };
    if (!is_host(source) || !is_host(destination)) {
      file_.problem(word, fmt::format("{}: hosts are 0 to {}, such as 0->1", in_quotes(word.text),
                                      hosts_ - 1));
      return false;
    }
    row.source = source.value();
    row.destination = destination.value();
    if (row.source != row.destination) return true;
    file_.problem(word, "a flow from a host to itself");
    return false;
  }

  void read_size(const Word& word, Row& row) {
    constexpr int64_t kMost = int64_t{1} << 40;
    if (word.text == "0")
      return file_.problem(word, "a flow of size 0 has no end in htsim, which flows have here");
    if (const auto size = file_.number(word, 1, kMost)) row.size = *size;
  }

  void read_start(const Word& word, Row& row) {
    constexpr double kMost = 1e18;
    const auto start = file_.quantity(word, &parse_real);
    if (start && (*start < 0 || *start > kMost))
      file_.problem(word, in_quotes(word.text) + " is no start in picoseconds");
    else if (start)
      row.start = Duration::picoseconds(static_cast<int64_t>(*start));
  }

  void check_counts() {
    const auto check = [&](const char* head, size_t there) {
      const auto found = heads_.find(head);
      const int64_t said = found == heads_.end() ? 0 : found->second.number;
      if (said == static_cast<int64_t>(there)) return;
      const std::string text = fmt::format("{} {}, but there are {}", head, said, there);
      if (found == heads_.end())
        file_.problem(1, text);
      else
        file_.problem(found->second.word, text);
    };
    check("Connections", connections_);
    check("Triggers", triggers_);
    check("Failures", failures_);
  }

  void note() {
    report_.add({Treatment::taken, name_, 0, fmt::format("{} flows", rows_.size()),
                 "flow.txt, traffic.0.file"});
    const auto ignored = [&](size_t number, int line, const char* what, const char* why) {
      if (number > 0)
        report_.add({Treatment::ignored, name_, line, fmt::format("{} {}", number, what), why});
    };
    ignored(triggered_, first_triggered_, "flows that start by a trigger",
            "a flow file has starts alone; what waits for others is type: collective here");
    ignored(triggers_, first_trigger_, "triggers", "nothing waits for them");
    ignored(failures_, first_failure_, "failures",
            "topology.degraded and faults say here which link fails, how far, and when");
    ignored(prios_, first_prio_, "priorities of flows", "all flows have host.priority");
  }

  HtsimMatrix made_over() {
    std::ranges::stable_sort(rows_, {}, [](const Row& row) { return *row.start; });
    HtsimMatrix out;
    out.flows = rows_.size();
    out.last = *rows_.back().start;
    out.text = fmt::format("{}\n", rows_.size());
    for (const Row& row : rows_) {
      constexpr int64_t kSecond = 1'000'000'000'000;
      out.text += fmt::format("{} {} 3 {} {}.{:012}\n", row.source, row.destination, row.size,
                              row.start->ps() / kSecond, row.start->ps() % kSecond);
    }
    return out;
  }

  struct Head {
    Word word;
    int64_t number = 0;
  };

  WordLines& file_;
  const std::string& name_;
  int64_t hosts_;
  ImportReport& report_;
  std::map<std::string, Head> heads_;
  std::vector<Row> rows_;
  size_t connections_ = 0;
  size_t triggers_ = 0, failures_ = 0, triggered_ = 0, prios_ = 0;
  int first_trigger_ = 0, first_failure_ = 0, first_triggered_ = 0, first_prio_ = 0;
};

}  // namespace

std::optional<HtsimMatrix> read_htsim_matrix(WordLines& file, const std::string& name,
                                             int64_t hosts, ImportReport& report) {
  return Reader(file, name, hosts, report).read();
}

}  // namespace eddy::lab
