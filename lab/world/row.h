// Row: what is appended and then taken all at once.
//
// A vector whose growing is apart, so that whoever appends takes no registers for it. Owner:
// whoever has it. Bounds: it grows above the room that it was made for. Cost: append() a few
// instructions.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace eddy::lab {

template <class T>
class Row {
 public:
  explicit Row(size_t room = 0) : memory_(room), data_(memory_.data()), room_(room) {}
  Row(const Row&) = delete;  // it knows where its memory is
  Row& operator=(const Row&) = delete;

  // Makes room for so many in all.
  void reserve(size_t room) {
    if (room <= room_) return;
    memory_.resize(room);
    data_ = memory_.data();
    room_ = room;
  }
  // By value: what is in registers goes from there to its place.
  [[gnu::always_inline]] void append(T each) {
    if (count_ == room_) [[unlikely]]
      grow();
    data_[count_++] = each;
  }
  // Those are left for which keep(each) says so, as they are asked in their order.
  template <class Keep>
  void keep_if(Keep keep) {
    size_t kept = 0;
    for (const T& each : all())
      if (keep(each)) data_[kept++] = each;
    count_ = kept;
  }
  void clear() { count_ = 0; }
  void swap(Row& other) {
    memory_.swap(other.memory_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(room_, other.room_);
  }

  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  T& operator[](size_t index) { return data_[index]; }
  const T* end() const { return data_ + count_; }
  const T& operator[](size_t index) const { return data_[index]; }
  std::span<T> all() { return {data_, count_}; }
  std::span<const T> all() const { return {data_, count_}; }

 private:
  [[gnu::noinline]] void grow() { reserve(2 * room_ + 1); }

  std::vector<T> memory_;
  T* data_;
  size_t count_ = 0;
  size_t room_;
};

}  // namespace eddy::lab
