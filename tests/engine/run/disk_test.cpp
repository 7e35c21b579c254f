// Pages on disk: the arithmetic is that of pages on the host, so the bits are the same; what goes over the
// disk is what the program says, and an error of the disk ends the run.
#include <sys/resource.h>

#include <csignal>

#include "engine/run/small_model.h"
#include "program/names.h"
#include "program/selected.h"
#include "run/measured.h"
#include "search/evaluate.h"
#include "timeline/check.h"
#include "timeline/compare.h"

namespace headroom::engine::test {
namespace {

const Family kQwen{"qwen2", true, false, 0, ""}, kMistral{"mistral", false, false, 20, ""},
    kGemma{"gemma3_text", false, true, 20, "linear", true, true};

// The same plan with what lies on disk on the host.
Plan on_host(Plan plan) {
    plan.decisions.kv_residency.disk_chunks = plan.decisions.kv_gradient_residency.disk_chunks = 0;
    return plan;
}

struct DiskBytes {
    int64_t read = 0, written = 0;
};

// What the program says of the selection that was made.
DiskBytes planned_disk_bytes(const SmallRun& run) {
    Plan seen = run.plan;
    if (run.plan.decisions.attention.sparse)
        seen.selection.recorded = std::make_shared<RecordedSelection>(run.executor->selection());
    const Result<Program> program = lower(run.plan, headroom::select_pages(seen));
    DiskBytes bytes;
    if (!program) ADD_FAILURE() << program.error().text();
    for (OpId op = 0; program && op < program->size(); ++op) {
        const OpKind kind = program->ops[op].kind;
        if (kind == OpKind::read_pages) bytes.read += program->work_of(op).bytes;
        if (kind == OpKind::write_pages) bytes.written += program->work_of(op).bytes;
    }
    return bytes;
}

// Two steps: the second takes the places that the first gave back.
void expect_the_bits_of_the_host(const Plan& plan, const std::string& what,
                                 const at::Device& device = at::kCPU) {
    SmallRun there(plan, {}, device), host(on_host(plan), {}, device);
    if (!there.disk) {  // sums that a large page cache never gives up
        EXPECT_GE(plan.decisions.page_cache, Bytes(kMiB)) << what << ": no pages on disk";
        return;
    }
    for (int step = 0; step < 2; ++step) {
        const StepResult a = there.step(), b = host.step();
        EXPECT_EQ(a.loss, b.loss) << what;
        EXPECT_TRUE(
            at::equal(there.executor->weight_gradients().cpu(), host.executor->weight_gradients().cpu()))
            << what << ", step " << step;
        EXPECT_EQ(a.loaded_page_bytes, b.loaded_page_bytes) << what;
        EXPECT_EQ(a.stored_page_bytes, b.stored_page_bytes) << what;
        // What was selected is known of the last sequence alone.
        if (!plan.decisions.attention.sparse || plan.recipe.batch == 1) {
            const DiskBytes planned = planned_disk_bytes(there);
            EXPECT_EQ(a.disk_read_bytes, planned.read) << what;
            EXPECT_EQ(a.disk_written_bytes, planned.written) << what;
        }
        EXPECT_GT(a.disk_written_bytes, 0) << what;
        EXPECT_EQ(b.disk_written_bytes, 0) << what;
    }
}

struct Places {
    const char* what;
    Residency kv, gradients;
};
// Of a plan of five chunks, the last of which has no pages.
const Places kPlaces[] = {
    {"all on disk", {0, 0, 5}, {0, 0, 5}},
    {"the newer half on disk", {0, 0, 3}, {0, 0, 3}},
    {"K and V on disk", {0, 0, 5}, {0, 0, 0}},
    {"gradients on disk", {0, 0, 0}, {0, 0, 4}},
    {"on all three", {0, 2, 2}, {0, 1, 3}},
    {"two layers on disk, and gradients of one", {1, 0, 5}, {2, 0, 3}},
    {"K and V on disk, gradients on the device", {0, 1, 3}, {3, 0, 0}},
    {"gradients on disk, K and V on the device", {3, 0, 0}, {0, 0, 5}},
};

Plan with_places(Plan plan, const Places& p) {
    plan.decisions.kv_residency = p.kv;
    plan.decisions.kv_gradient_residency = p.gradients;
    return plan;
}

// Pieces are as long as a chunk, so that they are the same wherever the pages lie: other pieces round
// otherwise. A ragged last chunk.
Plan dense(const Family& family, Dtype dtype = Dtype::fp64, int64_t context = 150) {
    Plan plan = small_plan(family, dtype, context, 32, 8);
    plan.decisions.staging_slot = Bytes(32 * 2 * 32 * bytes_of(dtype, 1).count());
    plan.decisions.segment = Tokens(16);
    return plan;
}

TEST(Disk, DensePagesGiveTheBitsOfTheHost) {
    for (const Places& places : kPlaces) {
        Plan plan = with_places(dense(kQwen), places);
        expect_the_bits_of_the_host(plan, places.what);
        plan.decisions.wavefront = 2;
        plan.decisions.staging_slots = 3;
        plan.decisions.prefetch = 2;
        plan.decisions.page_copy = PageCopy::loop;
        plan.recipe.batch = 2;
        plan.decisions.attention_outputs = AttentionOutputs::host;
        plan.decisions.activations = Activations::checkpoint_host;
        expect_the_bits_of_the_host(plan, std::string(places.what) + ", three slots, two sequences");
    }
    // A chunk that is not ragged; one that is a single page.
    expect_the_bits_of_the_host(with_places(dense(kQwen, Dtype::fp64, 160), kPlaces[0]), "whole chunks");
    Plan pages = with_places(dense(kQwen, Dtype::fp64, 40), kPlaces[1]);
    pages.decisions.chunk = Tokens(8);
    pages.decisions.staging_slot = Bytes(8 * 2 * 32 * 8);
    expect_the_bits_of_the_host(pages, "chunks of a page");
}

TEST(Disk, WindowsReadWhatTheySee) {
    for (const Family& family : {kMistral, kGemma}) {
        for (const Places& places : {kPlaces[0], kPlaces[2], kPlaces[3]})
            expect_the_bits_of_the_host(with_places(dense(family), places), family.type + ", " + places.what);
    }
}

TEST(Disk, SelectedPagesGiveTheBitsOfTheHost) {
    for (const Places& places : kPlaces) {
        for (const int64_t block : {32, 8}) {
            Plan plan = with_places(sparse(dense(kQwen), 5, block, 1, 2), places);
            const std::string what = std::string(places.what) + ", block " + std::to_string(block);
            if (block == 8) {
                plan.decisions.page_copy = PageCopy::gather;
                plan.decisions.wavefront = 2;
                plan.decisions.attention_outputs = AttentionOutputs::host;
                plan.decisions.activations = Activations::checkpoint_device;
            }
            expect_the_bits_of_the_host(plan, what);
        }
    }
    // Layers that select beside layers that do not.
    expect_the_bits_of_the_host(with_places(sparse(dense(kGemma), 5, 8, 1, 2), kPlaces[0]), "gemma3");
}

TEST(Disk, ThePageCacheKeepsPagesOfTheDisk) {
    const int64_t page = 8 * 2 * 32 * 8;  // bytes of K and V, or of dK and dV
    for (const Places& places : kPlaces) {
        for (const int64_t capacity : {1, 7, 1000}) {  // pages of a layer in the gradient pass
            for (const int64_t block : {32, 8}) {
                Plan plan = with_places(sparse(dense(kQwen, Dtype::fp64, 150), 5, block, 1, 2), places);
                plan.decisions.page_cache = Bytes(3 * capacity * 2 * page);
                plan.recipe.batch = capacity == 7 ? 2 : 1;
                const std::string what = std::string(places.what) + ", capacity " + std::to_string(capacity) +
                                         ", block " + std::to_string(block);
                expect_the_bits_of_the_host(plan, what);
            }
        }
    }
}

// A page of the wider kind is several units, wherever they are.
TEST(Disk, PagesOfTwoSizes) {
    for (const Places& places : {kPlaces[0], kPlaces[4]}) {
        for (const int64_t block : {0, 8}) {  // 0: dense
            for (const bool half : {false, true}) {
                Plan plan = dense(kQwen, half ? Dtype::bf16 : Dtype::fp64);
                plan.decisions.kv_gradients = Dtype::fp32;
                if (half) plan.recipe.gradients = Dtype::fp32;
                if (block > 0) plan = sparse(plan, 5, block, 1, 2);
                expect_the_bits_of_the_host(with_places(plan, places),
                                            std::string(places.what) + (half ? ", bf16" : ", fp64") +
                                                ", block " + std::to_string(block));
            }
        }
    }
}

// Pages of 4 KiB: past the system's cache, where the file system has that.
TEST(Disk, DirectAccessGivesTheBitsOfTheHost) {
    for (const int64_t block : {0, 8}) {
        Plan plan = small_plan(kQwen, Dtype::fp64, 300, 64, 16);
        plan.decisions.staging_slot = Bytes(64 * 2 * 32 * 8);
        if (block > 0) plan = sparse(plan, 6, block, 1, 2);
        plan = with_places(plan, kPlaces[1]);
        ASSERT_TRUE(disk_is_aligned(plan));
        expect_the_bits_of_the_host(plan, "block " + std::to_string(block));
    }
}

TEST(Disk, LiesBesideThePrediction) {
    for (const bool selects : {false, true}) {
        Plan plan = with_places(dense(kQwen), kPlaces[1]);
        if (selects) plan = sparse(plan, 5, 8, 1, 2);
        SmallRun run(plan);
        StepResult step = run.step();
        const std::vector<int64_t> start = step.start_ns, end = step.end_ns;
        int64_t disk_ns = 0;
        for (OpId op = 0; op < run.program.size(); ++op) {
            ASSERT_LE(start[op], end[op]) << op;
            const auto [first, last] = boost::out_edges(op, run.program.waits);
            for (auto edge = first; edge != last; ++edge) {
                const OpId before = boost::target(*edge, run.program.waits);
                ASSERT_LE(end[before], start[op]) << "op " << op << " began before op " << before << " ended";
            }
            if (run.program.ops[op].stream == Stream::disk && run.program.work_of(op).bytes > 0) {
                EXPECT_GT(end[op], start[op]) << "a transfer in no time";
                disk_ns += end[op] - start[op];
            }
        }
        const Result<Timeline> measured =
            measured_timeline(run.plan, run.program, std::move(step), "a CPU", "2026-11-30");
        ASSERT_TRUE(measured) << measured.error().text();
        const Result<Timeline> predicted = predict(run.plan);
        ASSERT_TRUE(predicted) << predicted.error().text();
        const Result<Comparison> c = compare(*predicted, *measured);
        ASSERT_TRUE(c) << c.error().text();
        EXPECT_TRUE(c->same_plan);
        EXPECT_EQ(c->unmatched_ops, 0);
        bool disk_tier = false, disk_stream = false;
        for (const Difference& d : c->differences) {
            if (d.group == "tier") {
                EXPECT_EQ(d.predicted, d.measured) << d.what;
                disk_tier = disk_tier || (d.what == "disk peak" && d.measured > 0);
            }
            if (d.group == "stream" && d.what == "disk busy") {
                disk_stream = true;
                EXPECT_GE(d.measured, disk_ns) << d.what;
            }
        }
        EXPECT_TRUE(disk_tier);
        EXPECT_TRUE(disk_stream);
    }
}

// Ends no process that writes more than its limit: it sees an error instead.
struct FileSizeLimit {
    explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
        const rlimit small{bytes, before_.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    }
    ~FileSizeLimit() {
        EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0);
        static_cast<void>(std::signal(SIGXFSZ, handler_));
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
    void (*handler_)(int);
    rlimit before_{};
};

TEST(Disk, AnErrorEndsTheStepAndNamesTheOp) {
    for (const bool selects : {false, true}) {
        Plan plan = with_places(dense(kQwen), kPlaces[0]);
        if (selects) plan = sparse(plan, 5, 8, 1, 2);
        SmallRun run(plan);
        const at::Tensor tokens = random_tokens(plan);
        {
            const FileSizeLimit limit(0);
            const Result<StepResult> r = run.executor->step(tokens);
            ASSERT_FALSE(r);
            EXPECT_EQ(r.error().fault, Fault::run_failed);
            OpId first = 0;
            while (run.program.ops[first].kind != OpKind::write_pages) ++first;
            EXPECT_EQ(r.error().where.rfind("op " + std::to_string(first) +
                                                " (write_pages, chunk 0, layer 0), the file for pages in '",
                                            0),
                      0u)
                << r.error().text();
            EXPECT_NE(r.error().found.find("writing "), std::string::npos) << r.error().text();
            EXPECT_NE(r.error().found.find("File too large"), std::string::npos) << r.error().text();
        }
    }
}

TEST(Disk, OnAGpuGivesTheBitsOfTheHost) {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
    for (const Places& places : kPlaces) {
        for (const int64_t block : {0, 64, 16}) {
            Plan plan = small_plan(kQwen, Dtype::bf16, 300, 64, 16);
            plan.recipe.gradients = Dtype::fp32;
            plan.decisions.deterministic = true;
            plan.decisions.staging_slot = Bytes(64 * 2 * 32 * 2);
            if (block > 0) plan = sparse(plan, 6, block, 1, 2);
            if (block == 16) plan.decisions.page_copy = PageCopy::gather;
            plan = with_places(plan, places);
            const std::string what = std::string(places.what) + ", block " + std::to_string(block);
            expect_the_bits_of_the_host(plan, what, at::Device("cuda:0"));
            plan.decisions.wavefront = 2;
            if (block > 0) plan.decisions.page_cache = Bytes(3 * 7 * 2 * 2048);
            expect_the_bits_of_the_host(plan, what + ", two in flight", at::Device("cuda:0"));
        }
    }
}

}  // namespace
}  // namespace headroom::engine::test
