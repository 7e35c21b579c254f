#include "calibrate/links.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/units.h"
#include "calibrate/transfer.h"
#include "sim/base/scratch_folder.h"

namespace headroom::engine {
namespace {

const Doing go_on = [](const std::string&, double) { return true; };

class Links : public ScratchFolder {
protected:
    std::vector<std::string> skipped_;
    const Skip skip_ = [this](const std::string& what, const std::string& why) {
        skipped_.push_back(what + ": " + why);
    };
};

TEST_F(Links, ATransferCopiesItsPiecesAndNothingBetweenThem) {
    Result<LinkMemory> memory = link_memory(at::kCPU, 64 * kKiB);
    ASSERT_TRUE(memory) << memory.error().text();
    const int64_t all = memory->host->bytes().count();
    const at::Tensor host = *memory->host->view(0, {all}, at::kByte),
                     device = *memory->device->view(0, {all}, at::kByte);
    for (const PageCopy how : {PageCopy::loop, PageCopy::batch, PageCopy::gather}) {
        for (const bool to_device : {true, false}) {
            const at::Tensor &from = to_device ? host : device, &to = to_device ? device : host;
            from.fill_(7);
            to.fill_(1);
            Transfer transfer(*memory, to_device, how, 4 * kKiB, 8, 0);
            transfer.issue_here();
            EXPECT_EQ(transfer.bytes(), 32 * kKiB);
            EXPECT_EQ((to == 7).sum().item<int64_t>(), 32 * kKiB);
            EXPECT_EQ(to[0].item<int>(), 7);
            EXPECT_EQ(to[4 * kKiB].item<int>(), 1);
            EXPECT_EQ(to[8 * kKiB].item<int>(), 7);
        }
    }
    EXPECT_THROW(Transfer(*memory, true, PageCopy::batch, 64 * kKiB, 3, 0), c10::Error);
}

TEST_F(Links, TransfersThatDoNotFitAreSkipped) {
    Result<LinkMemory> memory = link_memory(at::kCPU, 64 * kKiB);
    ASSERT_TRUE(memory);
    std::vector<TransferRow> rows(2);
    rows[0].piece = 4 * kKiB, rows[0].pieces = 4;
    rows[1].piece = kMiB, rows[1].pieces = 4;
    const auto measured = measure_transfers(rows, *memory, at::kCPU, 3, skip_, go_on);
    ASSERT_TRUE(measured) << measured.error().text();
    ASSERT_EQ(measured->size(), 1);
    EXPECT_GT(measured->at(0).bandwidth, 1e6);
    ASSERT_EQ(skipped_.size(), 1);
    EXPECT_NE(skipped_[0].find("4 x 1048576 bytes"), std::string::npos) << skipped_[0];
}

TEST_F(Links, TheDiskIsMeasuredAndLeftAsItWas) {
    const auto rows = measure_disk(folder_.string(), 32 * kMiB, 1, skip_);
    ASSERT_TRUE(rows) << rows.error().text();
    ASSERT_EQ(rows->size(), 2) << (skipped_.empty() ? "" : skipped_[0]);
    EXPECT_TRUE(rows->at(0).write);
    EXPECT_FALSE(rows->at(1).write);
    for (const DiskRow& r : *rows) {
        EXPECT_EQ(r.bytes, 32 * kMiB);
        EXPECT_GT(r.bandwidth, 1e6);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
    EXPECT_TRUE(measure_disk("", 32 * kMiB, 1, skip_)->empty());
    EXPECT_TRUE(measure_disk((folder_ / "none").string(), 32 * kMiB, 1, skip_)->empty());
    ASSERT_EQ(skipped_.size(), 1);
    EXPECT_NE(skipped_[0].find("No such file"), std::string::npos) << skipped_[0];
}

}  // namespace
}  // namespace headroom::engine
