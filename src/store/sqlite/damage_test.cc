// Whatever happens to the files of a log: it opens with what was in it, or it is refused and the
// refusal names a file. Never fewer records, never different ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>

#include "base/random.h"
#include "base/text.h"
#include "os/file.h"
#include "os/temp_folder.h"
#include "store/chain.h"
#include "store/sqlite/sqlite_log.h"

namespace drover::store {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kRecords = 400;

std::unique_ptr<SqliteLog> open_or_die(const std::string& folder) {
  auto log = SqliteLog::open({.folder = folder, .reserve_bytes = 0, .checkpoint_pages = 64});
  if (!log) ADD_FAILURE() << log.error().message;
  return std::move(log).value();
}

std::string payload_bytes(std::uint64_t i) { return "script " + std::to_string(i) + std::string(i * 17 % 6000, 'p'); }

void fill(SqliteLog& log, std::uint64_t first, std::uint64_t last) {
  std::promise<void> end;
  for (std::uint64_t p = first; p <= last; ++p) {
    Batch batch{.records = {{.position = p, .epoch = 1, .facts = {std::string(p * 7 % 500, 'f')}}}, .payloads = {}};
    if (p % 10 == 0) batch.payloads.push_back({sha256(payload_bytes(p)), payload_bytes(p)});
    log.append(std::move(batch), [&, p](const Appended& result) {
      EXPECT_EQ(result.outcome, Outcome::stored) << result.error;
      if (p == last) end.set_value();
    });
  }
  end.get_future().get();
}

// What a log says.
struct Content {
  std::uint64_t first = 0;
  std::vector<Record> records;
  std::map<std::uint64_t, Snapshot> snapshots;
};

Result<Content> content_of(SqliteLog& log) {
  Content content{.first = log.first(), .records = {}, .snapshots = {}};
  TRY(log.read(content.first, [&](const Record& r) { return content.records.push_back(r), true; }));
  auto snapshot = TRY(log.latest_snapshot());
  if (snapshot) content.snapshots.emplace(snapshot->position, *snapshot);
  return content;
}

// A store with a cut log, two snapshots and payloads; once as a killed process leaves it, with a
// write-ahead log, and once as closed.
class Damage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    images_ = new TempFolder;
    auto log = open_or_die(images_->path("made"));
    fill(*log, 1, 100);
    ASSERT_TRUE(log->write_snapshot(100, std::string(70'000, 'a'), {sha256(payload_bytes(10))}));
    fill(*log, 101, 250);
    ASSERT_TRUE(log->write_snapshot(250, std::string(140'000, 'b'), {sha256(payload_bytes(10))}));
    ASSERT_TRUE(log->trim(101));
    fill(*log, 251, kRecords);
    auto content = content_of(*log);
    ASSERT_TRUE(content);
    truth_ = new Content(std::move(*content));
    truth_->snapshots[100] = Snapshot{.position = 100, .bytes = std::string(70'000, 'a')};
    fs::copy(images_->path("made"), images_->path("killed"), fs::copy_options::recursive);
    log.reset();
    fs::rename(images_->path("made"), images_->path("closed"));
    ASSERT_GT(fs::file_size(images_->path("killed/log.db-wal")), 10'000U);
    ASSERT_FALSE(fs::exists(images_->path("closed/log.db-wal")));
  }
  static void TearDownTestSuite() {
    delete truth_;
    delete images_;
  }

  // Damages one file of one image; says what it did.
  static std::string harm(const std::string& folder, Random& random) {
    std::vector<std::string> names;
    const auto listed = list_folder(folder);
    for (const std::string& name : *listed) {
      if (name == "lock" || name == "reserve") continue;
      // The log itself is what most of the harm is done to.
      for (int i = name.starts_with("log.db") ? 4 : 1; i > 0; --i) names.push_back(name);
    }
    const std::string name = names[random.below(names.size())];
    std::string bytes = *read_file(folder + "/" + name);
    const std::uint64_t kind = random.below(20);
    const std::size_t at = random.below(bytes.size());
    const std::size_t page = at / 4096 * 4096;
    std::string what = name + " at " + std::to_string(at) + ": ";
    if (kind < 14) {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      what += "bit flipped";
    } else if (kind < 16) {
      const std::size_t size = std::min<std::size_t>(4096, bytes.size() - page);
      bytes.replace(page, size, size, '\0');
      what += "page zeroed";
    } else if (kind < 18 && bytes.size() >= 3 * 4096) {
      const std::size_t other = random.below(bytes.size() / 4096) * 4096;
      const std::size_t mine = std::min(page, (bytes.size() / 4096 - 1) * 4096);
      std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(mine),
                       bytes.begin() + static_cast<std::ptrdiff_t>(mine + 4096),
                       bytes.begin() + static_cast<std::ptrdiff_t>(other));
      what += "page swapped with that at " + std::to_string(other);
    } else if (kind < 19) {
      bytes.resize(at);
      what += "cut off";
    } else {
      fs::remove(folder + "/" + name);
      return name + ": removed";
    }
    std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
    return what;
  }

  static void expect_whole_or_refused(const std::string& folder, const std::string& what) {
    const auto refused_well = [&](const Error& error) {
      EXPECT_NE(error.message.find(folder), std::string::npos) << what << ": no file in: " << error.message;
      ++refused_;
    };
    auto log = SqliteLog::open({.folder = folder, .reserve_bytes = 0});
    if (!log) return refused_well(log.error());
    const auto content = content_of(**log);
    if (!content) return refused_well(content.error());
    ++whole_;
    EXPECT_EQ((*log)->head().position, kRecords) << what;
    EXPECT_EQ(content->first, truth_->first) << what;
    ASSERT_EQ(content->records, truth_->records) << what;
    ASSERT_EQ(content->snapshots.size(), 1U) << what;
    const auto& [position, snapshot] = *content->snapshots.begin();
    ASSERT_TRUE(truth_->snapshots.contains(position)) << what;
    EXPECT_EQ(snapshot.bytes, truth_->snapshots[position].bytes) << what;
    for (std::uint64_t i = 10; i <= kRecords; i += 10) {
      const auto payload = (*log)->payload(sha256(payload_bytes(i)));
      if (i > 10 && i <= 100) {
        EXPECT_FALSE(payload);
      } else if (payload) {
        EXPECT_EQ(*payload, payload_bytes(i)) << what;
      } else {
        ADD_FAILURE() << what << ": payload of " << i << ": " << payload.error().message;
      }
    }
  }

  static inline TempFolder* images_ = nullptr;
  static inline Content* truth_ = nullptr;
  static inline int whole_ = 0;
  static inline int refused_ = 0;
};

TEST_F(Damage, IsRefusedOrWithoutEffectAndNeverLosesARecord) {
  const char* wish = std::getenv("DROVER_TRIALS");
  const std::uint64_t trials = wish == nullptr ? 300 : parse_uint(wish).value_or(300);
  for (std::uint64_t seed = 1; seed <= trials; ++seed) {
    Random random(seed);
    const std::string folder = images_->path("trial");
    fs::copy(images_->path(random.chance(1, 2) ? "killed" : "closed"), folder, fs::copy_options::recursive);
    const std::string what = "seed " + std::to_string(seed) + ", " + harm(folder, random);
    expect_whole_or_refused(folder, what);
    fs::remove_all(folder);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(refused_, static_cast<int>(trials / 3));
  EXPECT_GT(whole_, 0);
  std::printf("%d refused, %d whole\n", refused_, whole_);
}

TEST_F(Damage, OneBitInTheMiddleOfTheWriteAheadLogIsRefusedByPosition) {
  const std::string folder = images_->path("trial");
  fs::copy(images_->path("killed"), folder, fs::copy_options::recursive);
  std::string wal = *read_file(folder + "/log.db-wal");
  wal[wal.size() / 2] = static_cast<char>(wal[wal.size() / 2] ^ 4);
  std::ofstream(folder + "/log.db-wal", std::ios::binary) << wal;
  const auto log = SqliteLog::open({.folder = folder, .reserve_bytes = 0});
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("log.db with its -wal"), std::string::npos) << log.error().message;
  EXPECT_NE(log.error().message.find("says " + std::to_string(kRecords)), std::string::npos) << log.error().message;
  fs::remove_all(folder);
}

TEST_F(Damage, AnOlderSnapshotStandsInForADamagedOneAndSaysSo) {
  const std::string folder = images_->path("trial");
  fs::copy(images_->path("closed"), folder, fs::copy_options::recursive);
  std::string bytes = *read_file(folder + "/snapshot-250");
  bytes[70'000] = 'X';
  std::ofstream(folder + "/snapshot-250", std::ios::binary) << bytes;
  {
    const auto log = open_or_die(folder);
    const auto snapshot = log->latest_snapshot();
    ASSERT_TRUE(snapshot && snapshot->has_value());
    EXPECT_EQ((*snapshot)->position, 100U);
    EXPECT_NE((*snapshot)->warning.find("snapshot-250: it is damaged at offset 65672"), std::string::npos)
        << (*snapshot)->warning;
    // With only one whole snapshot nothing more is cut; two more and all is as it was.
    EXPECT_FALSE(log->trim(102));
    ASSERT_TRUE(log->write_snapshot(300, "c", {}));
    ASSERT_TRUE(log->write_snapshot(350, "d", {}));
    EXPECT_FALSE(fs::exists(folder + "/snapshot-250"));
    EXPECT_TRUE(log->trim(301));
  }
  EXPECT_EQ((*open_or_die(folder)->latest_snapshot())->warning, "");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace drover::store
