#include "switch/control/serve/paging.h"

#include <gtest/gtest.h>

namespace eddy::control {
namespace {

Json report_of(size_t rows, size_t text_bytes) {
  Json report{{"report", "drops"}, {"switch", "leaf1"}, {"rows", Json::array()}};
  for (size_t i = 0; i < rows; ++i)
    report["rows"].push_back({{"n", i}, {"text", std::string(text_bytes, 'x')}});
  return report;
}

// Every page through the cache as a reader asks for them; the rows joined again.
Json read_all(PageCache& cache, const Json& report, size_t* pages = nullptr) {
  Json rows = Json::array();
  PageRequest request;
  for (uint64_t page = 0, count = 1; page < count; ++page) {
    request.page = page;
    const Json got = cache.page("k", request, [&] { return report; });
    EXPECT_LE(got.dump().size(), 16'384u - 64u);
    EXPECT_LE(got.at("rows").size(), 256u);
    for (const auto& [number, row] : got.at("rows").items()) {
      EXPECT_EQ(number, std::to_string(rows.size()));
      rows.push_back(row);
    }
    count = got.at("pages").get<uint64_t>();
    request.snapshot = got.at("snapshot").get<uint64_t>();
    if (pages != nullptr) *pages = count;
  }
  return rows;
}

TEST(Paging, AllRowsArriveInOrderWhateverTheirSize) {
  for (const size_t rows : {0u, 1u, 249u, 250u, 251u, 600u})
    for (const size_t text : {0u, 10u, 127u}) {
      PageCache cache;
      const Json report = report_of(rows, text);
      EXPECT_EQ(read_all(cache, report), report.at("rows")) << rows << " rows of " << text;
    }
}

TEST(Paging, SmallReportsAreOnePage) {
  PageCache cache;
  size_t pages = 0;
  read_all(cache, report_of(3, 10), &pages);
  EXPECT_EQ(pages, 1u);
  read_all(cache, report_of(300, 100), &pages);
  EXPECT_EQ(pages, 3u);
}

TEST(Paging, LaterPagesComeFromTheSnapshot) {
  PageCache cache;
  int made = 0;
  const auto make = [&] { return report_of(300 + static_cast<size_t>(made++) * 100, 0); };
  const Json first = cache.page("k", {}, make);
  EXPECT_EQ(cache.page("k", {1, first.at("snapshot").get<uint64_t>(), {}}, make).at("rows").size(),
            50u);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(cache.page("k", {1, {}, {}}, make).at("rows").size(), 150u) << "no snapshot: afresh";
}

TEST(Paging, ALostSnapshotIsAnErrorNotAMixture) {
  PageCache cache;
  const auto make = [] { return report_of(1, 0); };
  const uint64_t first = cache.page("k", {}, make).at("snapshot").get<uint64_t>();
  EXPECT_TRUE(cache.page("other", {0, first, {}}, make).contains("error"));
  for (size_t i = 0; i < kSnapshotsKept; ++i) cache.page("k", {}, make);
  EXPECT_TRUE(cache.page("k", {0, first, {}}, make).contains("error"));
}

TEST(Paging, APageThatIsNotThereIsAnError) {
  PageCache cache;
  const Json got = cache.page("k", {7, {}, {}}, [] { return report_of(1, 0); });
  EXPECT_EQ(got.at("error"), "page 7: there are 1");
}

TEST(Paging, LongTextsAreCutVisibly) {
  const Json page = cut_page(report_of(1, 500), {0}, 0, 1);
  const std::string text = page.at("rows").at("0").at("text");
  EXPECT_EQ(text.size(), kPageTextBytes);
  EXPECT_EQ(text.substr(text.size() - 3), "...");
}

TEST(Paging, ParametersAreParsedOrRefusedByName) {
  const auto request = parse_page_request("page=2,all=1,port=p0,snapshot=9,leaf=3,top=8");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request.value().page, 2u);
  EXPECT_EQ(request.value().snapshot, 9u);
  EXPECT_TRUE(request.value().options.all);
  EXPECT_EQ(request.value().options.port, "p0");
  EXPECT_EQ(request.value().options.leaf, 3u);
  EXPECT_EQ(request.value().options.top, 8u);
  EXPECT_TRUE(parse_page_request("").ok());
  for (const char* bad : {"page=x", "page=-1", "page=", "page", "all=2", "foo=1", "=", "1",
                          "leaf=x", "top=", "page=99999999999999999999"})
    EXPECT_FALSE(parse_page_request(bad).ok()) << bad;
}

}  // namespace
}  // namespace eddy::control
