// SharedList: a list of values, a std::array or a std::vector, that its copies share until one of
// them is changed.
//
// For what is long and mostly alike: a fabric has thousands of ports with the same queues, and
// thousands of sets of the same paths. It compares and is used as the list itself. Whatever may
// change it makes it its own first, and that is every call on one that is not const, so who only
// reads does so through a const one. Owner: whoever holds it; copies that share are in the hands of
// one thread while any of them may be changed. Cost: a reference count a copy; reading one load
// more. Source: docs/adr/0033.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <tuple>
#include <utility>

namespace eddy::config {

template <class List>
class SharedList {
 public:
  using value_type = typename List::value_type;

  SharedList() = default;
  SharedList(std::initializer_list<value_type> items) : list_(std::make_shared<List>(items)) {}

  const List& operator*() const { return list_ != nullptr ? *list_ : untouched(); }
  size_t size() const { return (**this).size(); }
  bool empty() const { return (**this).empty(); }
  auto begin() const { return (**this).begin(); }
  auto end() const { return (**this).end(); }
  const value_type* data() const { return (**this).data(); }
  const value_type& operator[](size_t i) const { return (**this)[i]; }
  const value_type& at(size_t i) const { return (**this).at(i); }
  const value_type& front() const { return (**this).front(); }
  const value_type& back() const { return (**this).back(); }

  auto begin() { return own().begin(); }
  auto end() { return own().end(); }
  value_type* data() { return own().data(); }
  value_type& operator[](size_t i) { return own()[i]; }
  value_type& at(size_t i) { return own().at(i); }
  value_type& front() { return own().front(); }
  value_type& back() { return own().back(); }
  void fill(const value_type& value) { own().fill(value); }
  void clear() { own().clear(); }
  void resize(size_t size) { own().resize(size); }
  void push_back(value_type value) { own().push_back(std::move(value)); }
  void pop_back() { own().pop_back(); }
  template <class... Arguments>
  value_type& emplace_back(Arguments&&... arguments) requires requires(List list) {
    list.emplace_back();
  }
  { return own().emplace_back(std::forward<Arguments>(arguments)...); }

  bool operator==(const SharedList& other) const {
    return list_ == other.list_ || **this == *other;
  }

 private:
  static const List& untouched() {
    static const List list{};
    return list;
  }
  List& own() {
    if (list_ == nullptr)
      list_ = std::make_shared<List>();
    else if (list_.use_count() != 1)
      list_ = std::make_shared<List>(*list_);
    return *list_;
  }

  std::shared_ptr<List> list_;  // null: as untouched()
};

}  // namespace eddy::config

template <class T, size_t kSize>
struct std::tuple_size<eddy::config::SharedList<std::array<T, kSize>>>
    : std::integral_constant<size_t, kSize> {};
