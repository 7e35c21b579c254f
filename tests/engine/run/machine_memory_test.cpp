#include "run/machine_memory.h"

#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

Program program_of(int64_t device, int64_t host) {
    Program p;
    Buffer small, large;
    small.name = "logits", small.tier = Tier::device, small.bytes = 1;
    large.name = "weights", large.tier = Tier::device, large.bytes = device - 1;
    p.buffers = {small, large};
    p.arena[static_cast<size_t>(Tier::device)] = device;
    p.arena[static_cast<size_t>(Tier::host)] = host;
    return p;
}

TEST(MachineMemory, WhatFitsToTheByteFitsAndOneMoreDoesNot) {
    const MachineMemory gpu{"a GPU", 1000, 900, 500, false};
    EXPECT_TRUE(check_memory(program_of(900, 500), gpu, "p"));
    const Error busy = check_memory(program_of(901, 500), gpu, "p").error();
    EXPECT_EQ(busy.fault, Fault::run_failed);
    EXPECT_EQ(busy.text(),
              "p: needs 901 bytes of device memory, the largest of it 'weights' with 900 bytes; allowed: 900 "
              "bytes, what other processes leave of a GPU");
    const Error large = check_memory(program_of(1001, 0), gpu, "p").error();
    EXPECT_EQ(large.fault, Fault::does_not_fit);
    EXPECT_EQ(large.allowed, "1000 bytes, the memory of a GPU");
    const Error host = check_memory(program_of(10, 501), gpu, "p").error();
    EXPECT_EQ(host.fault, Fault::does_not_fit);
    EXPECT_EQ(host.text(),
              "p: needs 501 bytes of host memory; allowed: 500 bytes, the host memory of this machine");
}

TEST(MachineMemory, OnTheCpuBothArenasAreHostMemory) {
    const MachineMemory cpu{"this machine", 0, 0, 500, true};
    EXPECT_TRUE(check_memory(program_of(300, 200), cpu, "p"));
    EXPECT_EQ(check_memory(program_of(301, 200), cpu, "p").error().fault, Fault::does_not_fit);
}

TEST(MachineMemory, ThisMachineHasSome) {
    const MachineMemory m = machine_memory(at::Device(at::kCPU));
    EXPECT_GT(m.host_bytes, 64 * kMiB);
    EXPECT_TRUE(m.device_is_host);
}

}  // namespace
}  // namespace headroom::engine
