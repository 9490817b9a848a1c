// How a World goes through time with other ranks.
#include <algorithm>
#include <utility>

#include "lab/world/world.h"
#include "net/assert.h"

namespace eddy::lab {
namespace {

constexpr Duration kAtOnce = Duration::picoseconds(1);

}  // namespace

// Window by window, none of which is longer than the shortest way between two ranks. Where a window
// has an action, or something looks at all nodes, a rank has its own nodes in one partition for it.
void World::advance_with_others(Instant limit, bool to_completion) {
  ASSERT(!whole_->has_touched());
  meet_others(now(), false);
  const Instant after = limit == Instant::never() ? limit : limit + kAtOnce;
  const Told& all = ranks_->all();
  while (!stopped_ && all.next < after && !(to_completion && all.unended == 0)) {
    Instant stop = std::min(all.next + ranks_->window(), after);
    // An action may stop the world, at one instant everywhere.
    if (all.action < stop) stop = all.action + kAtOnce;
    if (to_completion && all.awaited == 0) stop = run_until_own_ends(stop);
    run_alone(stop);
    meet_others(stop, false);
  }
  whole_->set_now(all.now);
  note_started();
}

// The last flow may end before `stop`, and the run does so at that instant. Each rank goes on until
// the last of its own ends, or to the end of the window; then all know when the run ends.
Instant World::run_until_own_ends(Instant stop) {
  Whole& whole = gather();
  while (!stopped_ && !book_.all_ended() && whole.next() < stop) whole.advance(whole.next());
  ranks_->meet(told(false), [](Packet*, const FrameView&) { ASSERT(false); });
  return ranks_->all().unended == 0 ? ranks_->all().now + kAtOnce : stop;
}

void World::run_alone(Instant stop) {
  if (divided_ && may_divide() && agenda_.next() >= stop) {
    do run_divided(stop, /*to_completion=*/false);
    while (windows_->next() < stop);
    return;
  }
  Whole& whole = gather();
  while (!stopped_ && whole.next() < stop) whole.advance(whole.next());
}

// All that happens before `stop` has happened here. Frames that leave the rank are in the boxes of
// partitions, which only exist while the world is divided.
void World::meet_others(Instant stop, bool noted) {
  if (!divided_) {
    windows_->take_over(*whole_);
    divided_ = true;
  }
  const Instant away = windows_->send_away(stop, *ranks_);
  Told mine = told(noted);
  mine.next = std::min(mine.next, away);
  tell_items(mine);
  ranks_->meet(mine, [this](Packet* packet, const FrameView& frame) {
    windows_->hand_in(frame.at, frame.line, packet);
  });
  if (!book_.may_hear(ranks_->all().ends))
    throw ExchangeError("ranks tell of items of the traffic what cannot be");
  for (const Release& release : book_.hear(ranks_->all().ends)) {
    windows_->add_release(release);
    ranks_->bring_forward(release.at);
  }
  stopped_ = ranks_->all().stopped;
}

// What has been seen of items here since the ranks last met.
void World::tell_items(Told& mine) {
  ItemNews news = std::exchange(whole_->item_news(), {});
  windows_->tell_items(news);
  mine.ends = std::move(news.ends);
}

Told World::told(bool noted) const {
  return {.next = next(),
          .now = now(),
          .action = agenda_.next(),
          .awaited = book_.awaited(),
          .unended = book_.flows().size() - book_.ended(),
          .stopped = stopped_,
          .noted = noted};
}

bool World::any_rank(bool mine) {
  if (ranks_ == nullptr) return mine;
  meet_others(now(), mine);
  return ranks_->all().noted;
}

}  // namespace eddy::lab
