#include "lab/results/flow_store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>

#include "lab/results/result_keys.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

// A row of ours takes 10 or 20 instructions of SQLite's machine and some tens of octets.
constexpr int kInstructionsALook = 10'000;
constexpr uint64_t kInstructionsAnOctet = 4;
constexpr uint64_t kLeastInstructions = 1'000'000;
constexpr uint64_t kOctetsOfARow = 4;
constexpr int kLongestText = 1 << 16;

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// Keeps the first problem; what follows it does nothing.
class Database {
 public:
  Database(const fs::path& file, int flags) : file_(file) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &opened, flags, nullptr);
    database_.reset(opened);
    check(code);
  }

  // For a file that somebody else may have written: what it says is data, no program.
  void trust_nothing() {
    std::error_code error;
    if (!ok()) return;
    const uint64_t octets = fs::file_size(file_, error);
    left_ = kLeastInstructions + kInstructionsAnOctet * octets;
    rows_left_ = octets / kOctetsOfARow;
    sqlite3_progress_handler(database_.get(), kInstructionsALook, &Database::look, this);
    sqlite3_limit(database_.get(), SQLITE_LIMIT_LENGTH, kLongestText);
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  }
  void run(const std::string& sql) {
    if (ok()) check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }
  void prepare(const std::string& sql) {
    if (!ok()) return;
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr));
    statement_.reset(statement);
  }
  sqlite3_stmt* statement() const { return statement_.get(); }
  // A row was inserted; binds are forgotten.
  void insert() {
    if (!ok()) return;
    const int code = sqlite3_step(statement());
    check(code == SQLITE_DONE ? SQLITE_OK : code);
    sqlite3_reset(statement());
    sqlite3_clear_bindings(statement());
  }
  // The next row of a question.
  bool next() {
    if (!ok()) return false;
    int code = sqlite3_step(statement());
    if (code == SQLITE_ROW && rows_left_-- == 0) code = SQLITE_INTERRUPT;
    check(code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code);
    return code == SQLITE_ROW;
  }
  int64_t integer(int column) const { return sqlite3_column_int64(statement(), column); }
  std::string text(int column) const {
    const auto* found = reinterpret_cast<const char*>(sqlite3_column_text(statement(), column));
    return found == nullptr ? "" : found;
  }
  bool ok() const { return problems_.empty(); }
  const Problems& problems() const { return problems_; }

 private:
  // Not 0: the question is given up.
  static int look(void* self) {
    auto& database = *static_cast<Database*>(self);
    database.left_ -= std::min<uint64_t>(database.left_, kInstructionsALook);
    return database.left_ == 0 ? 1 : 0;
  }
  void check(int code) {
    if (code == SQLITE_INTERRUPT && ok())
      problems_.push_back(file_.string() + ": it takes longer to read than a file of its size may");
    if (code != SQLITE_OK && ok())
      problems_.push_back(
          fmt::format("{}: {}", file_.string(),
                      database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code)));
  }

  fs::path file_;
  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  uint64_t left_ = 0;  // instructions
  uint64_t rows_left_ = 0;
  Problems problems_;
};

std::string create_flows() {
  std::string sql = "CREATE TABLE flows(id INTEGER PRIMARY KEY";
  for (const FlowColumn& column : flow_columns())
    sql += fmt::format(", {} {}", column.name, column.type);
  return sql + ")";
}

std::string insert_into(std::string_view table, size_t columns) {
  std::string sql = fmt::format("INSERT INTO {} VALUES(?", table);
  for (size_t i = 1; i < columns; ++i) sql += ",?";
  return sql + ")";
}

void add_flows(Database& database, const RunRecord& run) {
  database.run(create_flows());
  database.prepare(insert_into("flows", flow_columns().size() + 1));
  for (size_t id = 0; id < run.result.flows.size() && database.ok(); ++id) {
    int at = 1;
    sqlite3_bind_int64(database.statement(), at, static_cast<int64_t>(id));
    for (const FlowColumn& column : flow_columns())
      column.bind(database.statement(), ++at, run.result.flows[id]);
    database.insert();
  }
}

void add_hosts(Database& database, const RunRecord& run) {
  enum Column { kId = 1, kName, kAddress, kColumns = kAddress };
  database.run(
      "CREATE TABLE hosts(id INTEGER PRIMARY KEY, name TEXT NOT NULL, "
      "address TEXT NOT NULL)");
  database.prepare(insert_into("hosts", kColumns));
  for (size_t id = 0; id < run.topology.hosts.size() && database.ok(); ++id) {
    const Topology::Host& host = run.topology.hosts[id];
    const std::string address = to_string(host.address);
    sqlite3_bind_int64(database.statement(), kId, static_cast<int64_t>(id));
    sqlite3_bind_text(database.statement(), kName, host.name.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(database.statement(), kAddress, address.c_str(), -1, SQLITE_TRANSIENT);
    database.insert();
  }
}

void add_samples(Database& database, const RunRecord& run) {
  enum Column { kAt = 1, kQueue, kBuffer, kPaused, kColumns = kPaused };
  database.run(
      "CREATE TABLE samples(at_ns INTEGER NOT NULL, max_queue_bytes INTEGER NOT NULL, "
      "max_buffer_bytes INTEGER NOT NULL, paused_queues INTEGER NOT NULL)");
  database.prepare(insert_into("samples", kColumns));
  for (const QueueSample& sample : run.result.samples) {
    if (!database.ok()) return;
    sqlite3_bind_int64(database.statement(), kAt, sample.at.since_zero().ns());
    sqlite3_bind_int64(database.statement(), kQueue, sample.max_queue);
    sqlite3_bind_int64(database.statement(), kBuffer, sample.max_buffer);
    sqlite3_bind_int64(database.statement(), kPaused, sample.paused_queues);
    database.insert();
  }
}

void add_links(Database& database, const RunRecord& run) {
  enum Column { kLink = 1, kFrom, kPackets, kBytes, kPaused, kColumns = kPaused };
  database.run(
      "CREATE TABLE links(link TEXT NOT NULL, sender TEXT NOT NULL, packets INTEGER NOT NULL, "
      "bytes INTEGER NOT NULL, paused_ns INTEGER NOT NULL)");
  database.prepare(insert_into("links", kColumns));
  for (const LinkSent& sent : run.result.links) {
    if (!database.ok()) return;
    const std::string& link = run.topology.links[sent.link].name;
    const std::string& sender = run.topology.switches[sent.switch_index].name;
    sqlite3_bind_text(database.statement(), kLink, link.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(database.statement(), kFrom, sender.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(database.statement(), kPackets, static_cast<int64_t>(sent.packets));
    sqlite3_bind_int64(database.statement(), kBytes, static_cast<int64_t>(sent.bytes));
    sqlite3_bind_int64(database.statement(), kPaused, sent.paused.ns());
    database.insert();
  }
}

void read_flow_rows(Database& database, StoredRun& run) {
  enum Column { kSize, kFct, kSlowdown };
  database.prepare("SELECT size, fct_ns, slowdown FROM flows WHERE measured AND finished");
  while (database.next())
    run.flows.push_back({.size = database.integer(kSize),
                         .fct_ns = database.integer(kFct),
                         .slowdown = sqlite3_column_double(database.statement(), kSlowdown)});
}

void read_samples(Database& database, StoredRun& run) {
  enum Column { kAt, kQueue, kBuffer, kPaused };
  database.prepare(
      "SELECT at_ns, max_queue_bytes, max_buffer_bytes, paused_queues FROM samples ORDER BY at_ns");
  while (database.next())
    run.samples.push_back({.at_ns = database.integer(kAt),
                           .max_queue_bytes = database.integer(kQueue),
                           .max_buffer_bytes = database.integer(kBuffer),
                           .paused_queues = database.integer(kPaused)});
}

void read_links(Database& database, StoredRun& run) {
  enum Column { kLink, kFrom, kBytes, kPaused };
  database.prepare("SELECT link, sender, bytes, paused_ns FROM links ORDER BY rowid");
  while (database.next())
    run.links.push_back({.link = database.text(kLink),
                         .sender = database.text(kFrom),
                         .bytes = database.integer(kBytes),
                         .paused_ns = database.integer(kPaused)});
}

}  // namespace

Problems write_flows(const fs::path& file, const RunRecord& run) {
  const fs::path temporary = file.string() + ".part";
  std::error_code error;
  fs::remove(temporary, error);
  {
    Database database(temporary, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    // Until it is renamed nobody reads it: neither a journal nor waiting for the disk is needed.
    database.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    add_hosts(database, run);
    add_flows(database, run);
    add_samples(database, run);
    add_links(database, run);
    database.run("COMMIT");
    if (!database.ok()) return database.problems();
  }
  fs::rename(temporary, file, error);
  if (error) return {fmt::format("{}: {}", file.string(), error.message())};
  return {};
}

Result<StoredRun> read_flows(const fs::path& file) {
  StoredRun run;
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error))
    return Result<StoredRun>::failure(file.string() + ": this is no regular file");
  Database database(file, SQLITE_OPEN_READONLY);
  database.trust_nothing();
  read_flow_rows(database, run);
  read_samples(database, run);
  read_links(database, run);
  if (!database.ok()) return database.problems();
  return run;
}

}  // namespace eddy::lab
