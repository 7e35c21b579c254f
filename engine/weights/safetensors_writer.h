// Writes one safetensors file, tensor after tensor, so that no second copy of the weights is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "weights/safetensors.h"

namespace headroom {

// What a tensor of the file will be.
struct TensorSpec {
    std::string name;
    Dtype dtype = Dtype::fp32;
    std::vector<int64_t> shape;
};

// Contract: the file appears under its name at finish(), whole; without it, nothing is left behind. The same
// tensors give the same bytes. transformers and the format's own library read it.
class SafetensorsWriter {
public:
    SafetensorsWriter(SafetensorsWriter&& other) noexcept;
    SafetensorsWriter& operator=(SafetensorsWriter&&) = delete;
    SafetensorsWriter(const SafetensorsWriter&) = delete;
    SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;
    ~SafetensorsWriter();

    // Reserves the whole file on the disk, so that a full one shows before the work. `metadata` needs
    // {"format": "pt"} for transformers. Errors (Fault::run_failed): the path cannot be written, the disk is
    // full; (bad_input): a name twice, a negative size, a dtype that the format has not.
    static Result<SafetensorsWriter> open(const std::filesystem::path& path,
                                          std::span<const TensorSpec> tensors, const Metadata& metadata);
    // The next bytes of the data, in the order of `tensors`; any cut. Errors: the disk, interrupted, more
    // bytes than were announced.
    Result<void> append(std::span<const std::byte> data);
    // Error: fewer bytes than were announced; the disk.
    Result<void> finish();

private:
    SafetensorsWriter(std::filesystem::path path, int fd, std::unique_ptr<TemporaryName> temporary,
                      int64_t left);
    Result<void> write(std::span<const std::byte> data);

    struct Descriptor;
    std::filesystem::path path_;
    std::unique_ptr<TemporaryName> temporary_;
    std::unique_ptr<Descriptor> out_;
    int64_t left_;  // bytes of data still to come
};

}  // namespace headroom
