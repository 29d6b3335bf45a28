// tests/apps/salient_prepare_test.cpp - salient-prepare as people run it: exit codes, what it prints, what it leaves.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/archives.h"
#include "tests/support/real_data.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using test::read_bytes, test::Scratch, test::write_bytes;

#if defined(__SANITIZE_THREAD__)
constexpr bool kTbbIsOpaque = true;  // TSan does not see the synchronisation inside libtbb
#else
constexpr bool kTbbIsOpaque = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;  // its shadow memory is resident, too
#else
constexpr bool kIsSanitized = false;
#endif

struct Outcome {
  int exit_code = 0;
  std::string out{}, error{};
};

class PrepareProgram : public ::testing::Test {
 protected:
  /// Runs `salient-prepare ARGUMENTS` in the scratch folder, through the shell.
  Outcome run(const std::string& arguments) const {
    const std::string command =
        "cd '" + scratch_.path().string() + "' && '" SALIENT_PREPARE "' " + arguments + " > out.txt 2> error.txt";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), read_bytes(scratch_ / "out.txt"), read_bytes(scratch_ / "error.txt")};
  }
  void expect_refused(const std::string& arguments, int exit_code, const std::string& part) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << arguments << ": " << outcome.error;
    EXPECT_TRUE(outcome.error.starts_with("salient-prepare: error: ")) << outcome.error;
    EXPECT_NE(outcome.error.find(part), std::string::npos) << outcome.error;
    EXPECT_EQ(outcome.error.find('\n'), outcome.error.size() - 1) << "one line: " << outcome.error;
  }
  void expect_same_bytes(const std::string& a, const std::string& b) const {
    for (const auto& entry : fs::directory_iterator(scratch_ / a)) {
      const std::string name = entry.path().filename().string();
      EXPECT_EQ(read_bytes(entry.path()), read_bytes(scratch_ / (b + "/" + name))) << name;
    }
  }
  Scratch scratch_;
};

TEST_F(PrepareProgram, HelpsAndSuggests) {
  EXPECT_EQ(run("").exit_code, 2);
  EXPECT_NE(run("--help").out.find("salient-prepare edges --edges FILE"), std::string::npos);
  EXPECT_TRUE(run("--version").out.starts_with("salient-prepare 0."));
  EXPECT_NE(run("edges --help").out.find("--features"), std::string::npos);
  EXPECT_EQ(run("verify --help").exit_code, 0);
  expect_refused("wordnets", 2, "did you mean wordnet?");
  expect_refused("edges --edgess x", 2, "did you mean --edges?");
  expect_refused("synthetic --like arxiv", 2, "--out: is needed");
  expect_refused("synthetic --out D", 2, "--like or --nodes");
  expect_refused("synthetic --like mag24 --out D", 2, "--like: arxiv, products, papers100M or mag240M, or mag or igbh");
  expect_refused("synthetic --like mag --raw-ogb --out D", 2, "--like mag: a typed graph takes --scale alone");
  expect_refused("synthetic --like arxiv --scale 0.01 --out D --feature-dtype f64", 2,
                 "--feature-dtype: f16, f32 or fp8");
  expect_refused("synthetic --like arxiv --out D --memory-gb 0.01", 71, "--memory-gb allows 0.01");
  for (const std::string amount : {"-1", "1e-10", "1e7"})
    expect_refused("synthetic --like arxiv --out D --memory-gb " + amount, 2,
                   "--memory-gb: 0, or 1e-9 (a byte) to 1000000");
  expect_refused("wordnet --out D --memory-gb 1 --source none", 66, "none");
  expect_refused("edges --edges x --out .hidden", 2, "--name: is needed, as the folder's name '.hidden'");
  expect_refused("npz --out D", 2, "--file: is needed");
  for (const char* command : {"wordnet", "ogb --raw x", "npz --file x", "edges --edges x", "synthetic --like arxiv"})
    expect_refused(command + std::string(" --out D --symmetric maybe"), 2, "--symmetric: auto, yes or no, not 'maybe'");
  expect_refused("wordnet --out D --pointers lexical", 2, "--pointers: semantic or all, not 'lexical'");
  expect_refused("verify D --progress bar", 2, "--progress: auto, plain or none, not 'bar'");
  EXPECT_NE(run("wordnet --help").out.find("--pointers semantic"), std::string::npos);
  for (const char* command : {"describe", "describe ''", "verify ''", "partition '' --parts 2"})
    expect_refused(command, 2, "expected a folder");
  expect_refused("synthetic --nodes 4294967294 --features 65536 --out D", 71, " are free; take a smaller --scale");
  expect_refused("describe nothing", 66, "nothing is missing; make it with salient-prepare");
  expect_refused("verify wordnet", 66, "wordnet-base && salient-prepare wordnet --out wordnet");
  expect_refused("synthetic --nodes 9 --classes 10 --mean-degree 0 --out D", 2,
                 "--mean-degree: 1 to 1000000; --classes: ");
  expect_refused("edges --edges x --split 0.6,0.4 --out D", 2, "--split: three fractions");
  expect_refused("edges --out D", 2, "--edges: is needed");
  EXPECT_FALSE(fs::exists(scratch_ / "D"));
}

TEST_F(PrepareProgram, KeepsFeaturesInEightBits) {
  const Outcome made = run("synthetic --like arxiv --scale 0.01 --out D --feature-dtype fp8");
  EXPECT_EQ(made.exit_code, 0) << made.error;
  EXPECT_NE(made.out.find("128 x fp8, 0.2 MB"), std::string::npos) << made.out;
  EXPECT_EQ(run("verify D").exit_code, 0);
  write_bytes(scratch_ / "e.csv", "0,1\n1,2\n");
  expect_refused("edges --edges e.csv --out E --feature-layout csr --feature-dtype fp8", 2,
                 "--feature-layout: dense with --feature-dtype fp8");
  write_bytes(scratch_ / "x.csv", "id,a,b\n0,2020,0.001\n1,1,0\n2,1,0\n");
  expect_refused("edges --edges e.csv --features x.csv --out E --feature-dtype fp8 --scale-features none", 65,
                 "column 1 of the features");
}

TEST_F(PrepareProgram, GeneratesVerifiesDescribes) {
  const Outcome made = run("synthetic --like arxiv --scale 0.01 --out D --threads 1");
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_NE(made.out.find("1,693, 2 isolated"), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("next            salient-train --dataset D"), std::string::npos) << made.out;
  EXPECT_EQ(run("verify D").exit_code, 0);
  EXPECT_NE(run("describe D").out.find("synthetic-arxiv-0.01 (synthetic)"), std::string::npos);
  ASSERT_EQ(run("synthetic --like=arxiv --scale=0.01 --out=E --threads=2").exit_code, 0);
  expect_same_bytes("D", "E");

  expect_refused("synthetic --like arxiv --scale 0.01 --out D", 2, "D exists; --force");
  ASSERT_EQ(run("synthetic --nodes 100 --mean-degree 4 --features 3 --classes 2 --out D --force").exit_code, 0);
  EXPECT_NE(run("describe D").out.find("3 x f16"), std::string::npos) << "replaced";

  const Outcome typed = run("synthetic --like mag --scale 0.001 --out T");
  ASSERT_EQ(typed.exit_code, 0) << typed.error;
  EXPECT_NE(typed.out.find("author:writes:paper"), std::string::npos) << typed.out;
  EXPECT_EQ(run("verify T").exit_code, 0);

  std::string bytes = read_bytes(scratch_ / "E/indices.npy");
  bytes[4096] = static_cast<char>(bytes[4096] ^ 1);
  write_bytes(scratch_ / "E/indices.npy", bytes);
  expect_refused("verify E", 65, "E/indices.npy: XXH3 checksum");
}

TEST_F(PrepareProgram, PartitionsAStore) {
  ASSERT_EQ(run("synthetic --nodes 2000 --mean-degree 6 --out D").exit_code, 0);
  const std::string fingerprint = run("describe D").out;
  expect_refused("partition", 2, "expected a folder: salient-prepare partition DIR");
  expect_refused("partition none --parts 2", 66, "none is missing");
  expect_refused("partition D", 2, "--parts: 1 to 65536");
  expect_refused("partition D --parts 70000", 2, "--parts: 1 to 65536");
  expect_refused("partition D --parts 2 --method metis", 2, "--method: cluster or ranges, not 'metis'");
  expect_refused("partition D --by none.npy --method=cluster", 2, "--by or --method: one of them, not both");
  expect_refused("partition D --parts 2 --by none.npy", 66, "none.npy");
  expect_refused("partition D --parts 2 --by D/labels.npy", 65, "D/labels.npy: item ");
  EXPECT_FALSE(fs::exists(scratch_ / "D/owner.npy"));
  const Outcome made = run("partition D --parts 4");
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_TRUE(made.out.starts_with("parts           4 by cluster: ")) << made.out;
  EXPECT_NE(run("describe D").out.find("parts           4 by cluster: "), std::string::npos);
  EXPECT_NE(run("describe D").out.find(fingerprint.substr(fingerprint.find("fingerprint"))), std::string::npos);
  EXPECT_EQ(run("verify D").exit_code, 0);
  expect_refused("partition D --parts 3", 2, "D has parts; --force replaces them");
  fs::copy(scratch_ / "D/owner.npy", scratch_ / "mine.npy");
  ASSERT_EQ(run("partition D --parts 3 --method ranges --force").exit_code, 0);
  EXPECT_NE(run("describe D").out.find("3 by ranges: 666 to 667 nodes"), std::string::npos) << run("describe D").out;
  ASSERT_EQ(run("partition D --by mine.npy --force").exit_code, 0);
  EXPECT_NE(run("describe D").out.find("parts           4 by the file mine.npy: "), std::string::npos);
  std::string bytes = read_bytes(scratch_ / "D/owner.npy");
  bytes[4096] = static_cast<char>(bytes[4096] ^ 1);
  write_bytes(scratch_ / "D/owner.npy", bytes);
  expect_refused("verify D", 65, "D/owner.npy: XXH3 checksum");
  fs::remove(scratch_ / "D/owner.npy");
  expect_refused("describe D", 66, "D/owner.npy");
  EXPECT_EQ(run("describe D").out, "") << "all of it or nothing";
}

TEST_F(PrepareProgram, TurnsAnEdgeListIntoAStore) {
  std::string text = "# from\tto\n";
  for (int m = 0; m < 3000; ++m) text += std::to_string(m * m % 1009 * 10) + "\t" + std::to_string(m % 503 * 10) + "\n";
  write_bytes(scratch_ / "roads.txt.gz", test::gzip(text));
  const Outcome made = run("edges --edges roads.txt.gz --out D");
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_NE(made.out.find("D (edges)"), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("3000 edges read"), std::string::npos) << made.out;
  EXPECT_TRUE(fs::exists(scratch_ / "D/original_ids.npy"));
  EXPECT_FALSE(fs::exists(scratch_ / "D/features.npy"));
  EXPECT_EQ(run("verify D").exit_code, 0);
  for (const char* threads : {"2", "4"}) {
    ASSERT_EQ(run("edges --edges roads.txt.gz --name D --force --out E --threads " + std::string(threads)).exit_code,
              0);
    expect_same_bytes("D", "E");
  }
  EXPECT_EQ(run("edges --edges roads.txt.gz --symmetric no --out F").exit_code, 0);
  EXPECT_NE(run("describe F").out.find("directed"), std::string::npos);
}

/// A generated graph comes back the same through raw files in papers100M's layout, read in bounded memory.
TEST_F(PrepareProgram, RawFilesInOgbsLayoutGiveTheSameGraphInBoundedMemory) {
  if (kTbbIsOpaque) GTEST_SKIP() << "not under ThreadSanitizer";
  const std::string twin = "synthetic --like papers100M --scale 0.001 ";
  const Outcome raw = run(twin + "--raw-ogb --out raw");
  ASSERT_EQ(raw.exit_code, 0) << raw.error;
  ASSERT_EQ(run(twin + "--out direct").exit_code, 0);
  // In memory it would take 54 MB besides the program: features 28, edges as read 12, sorted 14.
  const Outcome made = run("ogb --raw raw --symmetric yes --out found --threads 2 --memory-gb 0.06");
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_NE(made.out.find("(synthetic)"), std::string::npos) << made.out;
  EXPECT_NE(read_bytes(scratch_ / "found/dataset.json").find("\"options\": \"--symmetric yes\""), std::string::npos);
  double peak = 0, limit = 0;
  const std::size_t at = made.out.find("peak memory ");
  ASSERT_NE(at, std::string::npos) << made.out;
  ASSERT_EQ(std::sscanf(made.out.c_str() + at, "peak memory %lf of %lf GB", &peak, &limit), 2) << made.out;
  EXPECT_EQ(limit, 0.06);
  EXPECT_GT(peak, 0.005);
  EXPECT_TRUE(kIsSanitized || peak <= limit) << peak << " of " << limit;
  for (const char* name : {"indptr", "indices", "features", "labels", "train", "valid", "test"}) {
    const std::string file = "/" + std::string(name) + ".npy";
    EXPECT_TRUE(read_bytes(scratch_ / ("direct" + file)) == read_bytes(scratch_ / ("found" + file))) << name;
  }
  EXPECT_EQ(run("verify found").exit_code, 0);
  expect_refused("ogb --raw raw --out D --memory-gb 0.04", 71, "of memory, 0.04 GB are allowed; raise --memory-gb");
  expect_refused(twin + "--raw-ogb --out D --memory-gb 0.04", 71, "--memory-gb allows 0.04 GB");
  expect_refused(twin + "--raw-ogb --out raw", 2, "raw exists; --force");
  expect_refused(twin + "--raw-ogb --out direct --force", 2, "direct holds no raw/data.npz");
}

TEST_F(PrepareProgram, AFullDiskOrASignalEndsWithOneLineAndNothingLeft) {
  if (kTbbIsOpaque) GTEST_SKIP() << "not under ThreadSanitizer";
  const std::string twin = "synthetic --like papers100M --scale 0.0003 --raw-ogb --out raw";
  ASSERT_EQ(run(twin).exit_code, 0);
  const auto expect_nothing_left = [&] {
    for (const auto& entry : fs::directory_iterator(scratch_.path()))
      EXPECT_TRUE(!entry.is_directory() || entry.path().filename() == "raw") << entry.path();
  };
  // A limit on the size of files fails a write as a full disk does; SIGXFSZ is ignored, as it would end the program.
  const std::string limited = "; trap '' XFSZ; ulimit -f 4096; '" SALIENT_PREPARE "' ";
  const Outcome full = run("--version > /dev/null" + limited + "ogb --raw raw --out D");
  EXPECT_EQ(full.exit_code, 74) << full.error;
  EXPECT_NE(full.error.find(": cannot write: File too large"), std::string::npos) << full.error;
  EXPECT_EQ(full.error.find('\n'), full.error.size() - 1) << full.error;
  expect_nothing_left();

  const Outcome ended = run(
      "--version > /dev/null; '" SALIENT_PREPARE
      "' synthetic --like papers100M --scale 0.05 --raw-ogb --out E "
      "2> ended.txt & for i in $(seq 600); do [ -d E.tmp-*/raw ] && break; sleep 0.05; done; kill -TERM $!; wait $!");
  EXPECT_EQ(ended.exit_code, 143);
  EXPECT_TRUE(read_bytes(scratch_ / "ended.txt").ends_with("salient-prepare: interrupted; nothing is left behind\n"));
  expect_nothing_left();
}

/// The signal comes while the first of four files is written: by the time of the others it must have been seen.
TEST_F(PrepareProgram, ASignalEndsTheWritingOfPartsRowsAndLeavesTheEarlierOnes) {
  ASSERT_EQ(run("synthetic --nodes 200000 --mean-degree 1 --features 256 --out D").exit_code, 0);
  ASSERT_EQ(run("partition D --parts 2 --method ranges --write-rows").exit_code, 0);
  const Outcome ended = run(
      "--version > /dev/null; '" SALIENT_PREPARE
      "' partition D --parts 4 --method ranges --write-rows --force 2> ended.txt & "
      "for i in $(seq 6000); do [ -s D/features-part-0.npy.tmp-* ] && break; sleep 0.01; done; kill -TERM $!; wait $!");
  EXPECT_EQ(ended.exit_code, 143);
  EXPECT_TRUE(read_bytes(scratch_ / "ended.txt").ends_with("interrupted; nothing is left behind\n"));
  for (const auto& entry : fs::directory_iterator(scratch_ / "D"))
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  EXPECT_FALSE(fs::exists(scratch_ / "D/features-part-2.npy"));
  EXPECT_EQ(run("verify D").exit_code, 0);
}

TEST_F(PrepareProgram, RefusedInputLeavesNothing) {
  write_bytes(scratch_ / "bad.txt", "0 1\n1 two\n");
  expect_refused("edges --edges bad.txt --out D", 65, "bad.txt: line 2");
  expect_refused("edges --edges none.txt --out D", 66, "none.txt");
  expect_refused("ogb --raw none --out D", 66, "none");
  expect_refused("wordnet --source none --out D", 66, "brings it; name another folder with --raw or --source");
  write_bytes(scratch_ / "wide.txt", "0 1 2\n");
  expect_refused("edges --edges wide.txt --out D", 65, "an edge has two: '0 1 2'; choose them with --columns I,J");
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(scratch_.path())) folders += entry.is_directory();
  EXPECT_EQ(folders, 0u);
}

TEST_F(PrepareProgram, FollowsALinkAndRefusesFoldersThatCannotBeReplaced) {
  const std::string command = "synthetic --nodes 10 --classes 2 ";
  fs::create_directory(scratch_ / "disk");
  fs::create_directory_symlink("disk", scratch_ / "link");
  ASSERT_EQ(run(command + "--out link/").exit_code, 0);
  ASSERT_EQ(run(command + "--out link --force").exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(scratch_ / "link"));
  EXPECT_TRUE(fs::exists(scratch_ / "disk/dataset.json"));

  fs::create_directory(scratch_ / "here");
  const std::string program = "'" SALIENT_PREPARE "' " + command;
  expect_refused("--version > /dev/null; (cd here && " + program + "--out .)", 2, "./NAME");
  EXPECT_TRUE(fs::is_empty(scratch_ / "here"));

  const auto mounted = [](const std::string& mount, const std::string& then) {
    return "--version > /dev/null; unshare -rm sh -c \"mount " + mount + " here && " + then + "\"";
  };
  if (run(mounted("-t tmpfs none", "true")).exit_code != 0) GTEST_SKIP() << "may not mount";
  expect_refused(mounted("-t tmpfs none", program + "--out here"), 2, "here is a mount point and cannot be replaced");
  expect_refused(mounted("--bind disk", program + "--out here --force"), 2, "here is a mount point");
  EXPECT_EQ(run(mounted("-t tmpfs none", program + "--out here/new")).exit_code, 0);
}

TEST_F(PrepareProgram, NamesWhatAnInterruptedRunLeft) {
  fs::create_directory(scratch_ / "D.tmp-host-123");
  const Outcome made = run("synthetic --nodes 10 --out D --classes 2");
  EXPECT_EQ(made.exit_code, 0);
  EXPECT_NE(made.error.find("D.tmp-host-123"), std::string::npos) << made.error;
  fs::remove_all(scratch_ / "D");
  expect_refused("describe D", 66, "D.tmp-host-123");
}

TEST_F(PrepareProgram, PreparesWordNet) {
  if (!fs::exists("/usr/share/wordnet/data.noun")) GTEST_SKIP() << "wordnet-base is not installed";
  const Outcome made = run("wordnet --out D");
  ASSERT_EQ(made.exit_code, 0) << made.error;
  for (const char* part :
       {"117,659, 7,914 isolated", "285,946 entries, symmetric", "mean 2.43, median 1, 99 % 19, max 671",
        "from 42 to 14,435 nodes", "88.2 %", "70,595 train, 23,531 valid, 23,533 test"})
    EXPECT_NE(made.out.find(part), std::string::npos) << part << " is not in\n" << made.out;
  EXPECT_EQ(run("verify D").exit_code, 0);
}

TEST_F(PrepareProgram, NamesThatAreNoUtf8AreSaid) {
  const std::string edges = "src,dst\nn1,n2\nn2,n3\n", options = "edges --edges e.csv --ids text --labels y.csv";
  for (const auto& [node, name] : {std::pair("n3", "caf\xe9"), std::pair("n\xe9", "b")}) {
    write_bytes(scratch_ / "e.csv", edges + "n3," + node + "\n");
    write_bytes(scratch_ / "y.csv", "id,label\nn1,a\nn2," + std::string(name) + "\nn3,a\n");
    const Outcome outcome = run(options + " --make-features degree --out s --force");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_NE(outcome.error.find("\\xe9' is no UTF-8"), std::string::npos) << outcome.error;
    EXPECT_EQ(outcome.error.find('\xe9'), std::string::npos) << outcome.error;
  }
  write_bytes(scratch_ / "y.csv", "id,label\nn1,a\nn2,caf\u00e9\nn3,a\n");
  write_bytes(scratch_ / "e.csv", edges);
  EXPECT_EQ(run(options + " --make-features degree --out s --force").error.find("UTF-8"), std::string::npos);
}

/// Three papers, of which one cites itself, and two authors; a table of papers with ids of its own.
void write_typed_files(const Scratch& scratch) {
  write_bytes(scratch / "papers.csv", "id,year,label\np1,2001,x\np2,2003,y\np3,2002,x\n");
  write_bytes(scratch / "pa.csv", "p1,0\np2,1\np2,0\np2,0\n");
  write_bytes(scratch / "pp.csv", "p1,p2\np3,p3\n");
}
const std::string kTyped =
    "typed --nodes paper=papers.csv --nodes author=count:2 --edges paper:written_by:author=pa.csv "
    "--edges paper:cites:paper=pp.csv --out D ";

TEST_F(PrepareProgram, PreparesATypedGraph) {
  write_typed_files(scratch_);
  const Outcome made = run(kTyped + "--labels paper=papers.csv --split 0.4,0.3,0.3");
  ASSERT_EQ(made.exit_code, 0) << made.error;
  for (const char* part :
       {"paper: 3 nodes, 1 x f16", "; target", "author: 2 nodes, no features",
        "paper:written_by:author: 3 entries, mean 1.50 a node, 0 without",
        "author:rev_written_by:paper: 3 entries, mean 1.00 a node, 1 without; reverse of written_by",
        "paper:rev_cites:paper: 2 entries", "5 nodes, 10 entries in 11 slots", "classes         2, from 1 to 2 nodes",
        "6 edges read, 2 repeated entries left out, 2 self loops kept", "salient-train --dataset D --model rgcn"})
    EXPECT_NE(made.out.find(part), std::string::npos) << part << " is not in\n" << made.out;
  EXPECT_EQ(run("verify D").exit_code, 0);
  EXPECT_NE(run("describe D").out.find("paper:rev_cites:paper"), std::string::npos);
  EXPECT_EQ(run(kTyped + "--reverse none --force").exit_code, 0) << "no labels are needed";
  EXPECT_EQ(run("describe D").out.find("rev_"), std::string::npos);
  EXPECT_NE(run("describe D").out.find("5 entries in 5 slots"), std::string::npos);
}

TEST_F(PrepareProgram, TypedGraphsAreTheSameBytesForAnyThreads) {
  write_typed_files(scratch_);
  ASSERT_EQ(run(kTyped + "--labels paper=papers.csv --split 0.4,0.3,0.3 --threads 1").exit_code, 0);
  fs::rename(scratch_ / "D", scratch_ / "one");
  ASSERT_EQ(run(kTyped + "--labels paper=papers.csv --split 0.4,0.3,0.3 --threads 4").exit_code, 0);
  fs::rename(scratch_ / "D", scratch_ / "four");
  expect_same_bytes("one", "four");
}

TEST_F(PrepareProgram, RefusesWhatMakesNoTypedGraph) {
  write_typed_files(scratch_);
  const std::string papers = "typed --out D --nodes paper=papers.csv ", edges = "--edges paper:cites:paper=pp.csv ";
  expect_refused("typed --out D", 2, "--nodes: a node type is needed");
  expect_refused(papers, 2, "--edges: a relation is needed, as SRC:NAME:DST=FILE");
  expect_refused(papers + "--edges paper:by:autor=pp.csv", 2,
                 "--edges: 'paper:by:autor': no node type 'autor'; there are paper");
  expect_refused(papers + edges + "--nodes author", 2, "--nodes: TYPE=FILE or TYPE=count:N, not 'author'");
  expect_refused(papers + edges + "--nodes author=", 2, "--nodes: TYPE=FILE or TYPE=count:N, not 'author='");
  expect_refused(papers + edges + "--nodes author=count:many", 2, "'count:many' is no count");
  expect_refused(papers + edges + "--nodes paper=count:3", 2, "--nodes: two node types are called 'paper'");
  expect_refused(papers + "--edges paper:paper=pp.csv", 2, "--edges: SRC:NAME:DST=FILE, not 'paper:paper=pp.csv'");
  expect_refused(papers + edges + edges, 2, "--edges: relation 'paper:cites:paper' is there twice");
  expect_refused(papers + edges + "--labels paper=a --labels author=b", 2, "one target type a store");
  expect_refused(papers + edges + "--labels author=a", 2, "--labels: no node type 'author'; there are paper");
  expect_refused(papers + edges + "--train t.npy", 2, "--train: needs labels");
  expect_refused(papers + edges + "--symmetric no", 2, "--symmetric: of plain graphs");
  expect_refused(papers + edges + "--reverse both", 2, "--reverse: add or none, not 'both'");
  expect_refused(papers + edges + "--nodes author=count:4294967295", 2, "more than 4294967294 nodes together");
  const std::string rows = "typed --out D --nodes paper=count:3 --edges paper:cites:paper=";
  expect_refused(rows + "none.csv", 66, "none.csv");
  write_bytes(scratch_ / "bad.csv", "0,1\n0,3\n");
  expect_refused(rows + "bad.csv", 65, "bad.csv: line 2: node 3, those of type 'paper' are 0 to 2");
  expect_refused(rows + "bad.csv --nodes author=count:4294967292", 2, "more than 4294967294 nodes together");
  write_bytes(scratch_ / "good.csv", "0,1\n0,2\n");
  expect_refused(rows + "good.csv --memory-gb 0.001", 71, "GB are allowed; raise --memory-gb");
  EXPECT_FALSE(fs::exists(scratch_ / "D"));
}

TEST_F(PrepareProgram, AGraphFileStandsForTheOptions) {
  write_typed_files(scratch_);
  ASSERT_EQ(run(kTyped + "--labels paper=papers.csv --split 0.4,0.3,0.3").exit_code, 0);
  fs::rename(scratch_ / "D", scratch_ / "by-options");
  fs::create_directories(scratch_ / "g");
  const auto graph = [&](const std::string& text) { write_bytes(scratch_ / "g/graph.toml", text); };
  const std::string nodes = "[nodes]\npaper = { features = '../papers.csv', labels = '../papers.csv' }\n";
  const std::string authors = "author = { count = 2 }\n";
  const std::string edges =
      "[edges]\n\"paper:written_by:author\" = { file = '../pa.csv' }\n"
      "'paper:cites:paper' = { file = '../pp.csv' }\n";
  graph("name = 'D'\n" + nodes + authors + edges + "[split]\nof = 'paper'\nfractions = [0.4, 0.3, 0.3]\n");
  const Outcome made = run("typed --schema g/graph.toml --out E");
  ASSERT_EQ(made.exit_code, 0) << made.error;
  for (const char* file : {"indptr.npy", "indices.npy", "features.0.npy", "labels.npy", "train.npy", "node_names.npy"})
    EXPECT_EQ(read_bytes(scratch_ / "by-options" / file), read_bytes(scratch_ / "E" / file)) << file;
  const auto refused = [&](const std::string& text, const std::string& words) {
    graph(text);
    expect_refused("typed --schema g/graph.toml --out F", 2, words);
  };
  refused("[nodes]\npaper = 'p.npy'\n", "line 2: 'paper' of nodes takes a value in braces");
  refused(nodes + "author = { number = 2 }\n", "line 3: node type 'author' has no 'number'; it takes features, ids");
  refused(nodes + "author = {}\n", "line 3: node type 'author' takes one of features, ids");
  refused(nodes + "[edges]\n'a:b:c' = {}\n", "line 4: relation 'a:b:c' has no file");
  refused(nodes + "[edges]\n'a:b:c' = { file = 'x', weight = 2 }\n", "line 4: relation 'a:b:c' has no 'weight'");
  refused(nodes + "[links]\n", "line 3: section 'links'; there are nodes, edges and split");
  refused(nodes + authors + edges + "[split]\nof = 'author'\n", "the split is of 'author', which has no labels");
  refused(nodes + "[edges]\n'paper:by:autor' = { file = '../pp.csv' }\n", "no node type 'autor'; there are paper");
  expect_refused("typed --schema g/graph.toml --nodes a=count:3 --out F", 2, "which options say, too: one of both");
  expect_refused("typed --schema g/none.toml --out F", 66, "none.toml");
}

TEST_F(PrepareProgram, ATypedGraphIsPartitionedWithoutFilesOfRows) {
  write_typed_files(scratch_);
  ASSERT_EQ(run(kTyped).exit_code, 0);
  EXPECT_EQ(run("partition D --parts 2").exit_code, 0);
  EXPECT_NE(run("describe D").out.find("parts           2 by "), std::string::npos);
  expect_refused("partition D --parts 2 --force --write-rows", 2, "--write-rows");
  expect_refused("edges --edges pp.csv --nodes papers.csv --features-as D --out E", 65, "D: a typed graph");
}

TEST_F(PrepareProgram, PreparesAcmOfHeco) {
  const fs::path data = test::real_data_or_empty();
  if (data.empty() || !fs::exists(data / "heco-acm")) GTEST_SKIP() << test::kNoRealData;
  const std::string from = (data / "heco-acm").string() + "/";
  const Outcome made =
      run("typed --nodes paper=" + from + "p_feat.npz --nodes author=" + from +
          "a_feat.npz --nodes subject=count:60 --edges paper:written_by:author=" + from +
          "pa.txt --edges paper:about:subject=" + from + "ps.txt --labels paper=" + from + "labels.npy --train " +
          from + "train_20.npy --valid " + from + "val_20.npy --test " + from + "test_20.npy --out acm");
  ASSERT_EQ(made.exit_code, 0) << made.error;
  for (const char* part :
       {"paper: 4,019 nodes, 1902 x f16", "author: 7,167 nodes, 1902 x f16", "subject: 60 nodes, no features",
        "paper:written_by:author: 13,407 entries", "paper:about:subject: 4,019 entries",
        "author:rev_written_by:paper: 13,407 entries", "11,246 nodes, 34,852 entries in 15,265 slots",
        "classes         3,", "60 train, 1,000 valid, 1,000 test", "0 repeated entries left out"})
    EXPECT_NE(made.out.find(part), std::string::npos) << part << " is not in\n" << made.out;
  EXPECT_EQ(run("verify acm").exit_code, 0);
}

}  // namespace
}  // namespace salient
