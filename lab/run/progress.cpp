#include "lab/run/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "net/text/printable.h"

namespace eddy::lab {
namespace {

constexpr double kPercent = 100;
constexpr double kMillion = 1e6;

// How long the rest takes if it goes on like that; empty: nobody knows.
std::string rest(double elapsed, double share) {
  if (share <= 0 || elapsed <= 0) return "";
  return ", " + clock_text(elapsed * (1 - share) / share) + " left";
}

}  // namespace

std::string to_line(const ItemProgress& progress) {
  return fmt::format("progress {:.6f} {:.6f} {} {} {}", progress.share, progress.simulated_ms,
                     progress.flows_ended, progress.flows, progress.packet_hops);
}

bool from_line(std::string_view line, ItemProgress& progress) {
  std::istringstream stream{std::string(line)};
  std::string word;
  ItemProgress read;
  stream >> word >> read.share >> read.simulated_ms >> read.flows_ended >> read.flows >>
      read.packet_hops;
  if (!stream || word != "progress") return false;
  progress = read;
  return true;
}

std::string clock_text(double seconds) {
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 3'600;
  const auto all = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
  if (all >= kHour) return fmt::format("{}h{:02}m", all / kHour, all % kHour / kMinute);
  if (all >= kMinute) return fmt::format("{}m{:02}s", all / kMinute, all % kMinute);
  return fmt::format("{}s", all);
}

std::string SweepProgress::line_of(const Item& item) const {
  const ItemProgress& at = item.progress;
  const double elapsed = clock_() - item.began;
  return fmt::format("{}: {:.0f} %, {:.3g} ms, {} of {} flows, {:.3g} M hops{}", item.name,
                     at.share * kPercent, at.simulated_ms, at.flows_ended, at.flows,
                     static_cast<double>(at.packet_hops) / kMillion, rest(elapsed, at.share));
}

std::string SweepProgress::total_line() const {
  double done = static_cast<double>(ended_);
  for (const auto& [ignored, item] : running_) done += item.progress.share;
  const double share = items_ == 0 ? 0 : done / static_cast<double>(items_);
  return fmt::format("{} of {} done{}", ended_, items_, rest(clock_() - began_, share));
}

void SweepProgress::clear() {
  if (drawn_ > 0) out_ << "\033[" << drawn_ << "A\033[J";
  drawn_ = 0;
}

void SweepProgress::redraw() {
  if (style_ != ProgressStyle::screen) return;
  clear();
  for (const auto& [ignored, item] : running_)
    out_ << line_of(item).substr(0, width_ == 0 ? std::string::npos : width_) << "\n";
  out_ << total_line() << "\n" << std::flush;
  drawn_ = running_.size() + 1;
}

void SweepProgress::started(size_t item, const std::string& name) {
  const double now = clock_();
  running_[item] = {.name = printable(name), .progress = {}, .began = now, .told = now};
  if (style_ == ProgressStyle::brief || style_ == ProgressStyle::lines)
    out_ << running_[item].name << ": started\n" << std::flush;
  redraw();
}

void SweepProgress::reported(size_t item, const ItemProgress& progress) {
  const auto found = running_.find(item);
  if (found == running_.end()) return;
  Item& of = found->second;
  of.progress = progress;
  if (style_ == ProgressStyle::lines && clock_() - of.told >= kLineSeconds) {
    of.told = clock_();
    out_ << line_of(of) << "\n" << std::flush;
  }
  redraw();
}

void SweepProgress::ended(size_t item, const std::string& said) {
  const auto found = running_.find(item);
  if (found == running_.end()) return;
  clear();
  ++ended_;
  const std::string line = found->second.name + ": " + printable(said);
  running_.erase(found);
  if (style_ != ProgressStyle::quiet) {
    out_ << line;
    if (style_ != ProgressStyle::screen) out_ << " (" << total_line() << ")";
    out_ << "\n" << std::flush;
  }
  if (!running_.empty() || ended_ < items_) redraw();
}

void SweepProgress::say(const std::string& text) {
  clear();
  out_ << printable_lines(text) << std::flush;
  if (!running_.empty()) redraw();
}

}  // namespace eddy::lab
