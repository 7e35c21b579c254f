#include "decoder/adapters.h"

#include <algorithm>
#include <string>

#include "decoder/products.h"

namespace headroom::engine {
namespace {

// A projection as LoRA sees it: its name in the recipe and in transformers, and its columns of the group's
// output.
struct Target {
    const char *key, *module;
    int64_t first, size;
};
struct Group {
    int64_t in;
    std::vector<Target> targets;
};

// All of a layer, those that the recipe names.
std::array<Group, kProjections> groups_of(const Model& m, const Recipe& recipe) {
    const int64_t Q = m.q_size(), KV = m.kv_size(), I = m.intermediate;
    std::array<Group, kProjections> groups{
        {{m.hidden,
          {{"q", "self_attn.q_proj", 0, Q},
           {"k", "self_attn.k_proj", Q, KV},
           {"v", "self_attn.v_proj", Q + KV, KV}}},
         {Q, {{"o", "self_attn.o_proj", 0, m.hidden}}},
         {m.hidden, {{"gate", "mlp.gate_proj", 0, I}, {"up", "mlp.up_proj", I, I}}},
         {I, {{"down", "mlp.down_proj", 0, m.hidden}}}}};
    for (Group& group : groups) {
        std::erase_if(group.targets, [&](const Target& t) {
            return std::find(recipe.lora_targets.begin(), recipe.lora_targets.end(), t.key) ==
                   recipe.lora_targets.end();
        });
    }
    return groups;
}

}  // namespace

std::vector<Parameter> adapter_list(const Model& m, const Recipe& recipe) {
    const int64_t r = recipe.lora_rank;
    std::vector<Parameter> list;
    int64_t offset = 0;
    const auto add = [&](int64_t layer, const Target& t, const char* part, std::vector<int64_t> shape) {
        Parameter p{{"base_model.model.model.layers." + std::to_string(layer) + "." + t.module + "." + part +
                         ".weight",
                     std::move(shape), WeightRole::matrix},
                    offset};
        offset += p.elements();
        list.push_back(std::move(p));
    };
    const std::array<Group, kProjections> groups = groups_of(m, recipe);
    for (int64_t l = 0; l < m.layer_count(); ++l) {
        for (const Group& group : groups) {
            for (const Target& t : group.targets) add(l, t, "lora_A", {r, group.in});
            for (const Target& t : group.targets) add(l, t, "lora_B", {t.size, r});
        }
    }
    return list;
}

LayerAdapters layer_adapters_in(const Model& m, const Recipe& recipe, const at::Tensor& flat) {
    const int64_t r = recipe.lora_rank;
    int64_t offset = 0;
    const auto next = [&](int64_t rows, int64_t columns) {
        at::Tensor view = flat.narrow(0, offset, rows * columns).view({rows, columns});
        offset += rows * columns;
        return view;
    };
    const std::array<Group, kProjections> groups = groups_of(m, recipe);
    LayerAdapters layer;
    for (size_t g = 0; g < groups.size(); ++g) {
        if (groups[g].targets.empty()) continue;
        layer[g].a = next(static_cast<int64_t>(groups[g].targets.size()) * r, groups[g].in);
        for (const Target& t : groups[g].targets)
            layer[g].parts.push_back({t.first, t.size, next(t.size, r)});
    }
    return layer;
}

std::vector<LayerAdapters> adapters_in(const Model& m, const Recipe& recipe, const at::Tensor& flat) {
    std::vector<LayerAdapters> layers;
    const int64_t of_layer = flat.numel() / m.layer_count();
    for (int64_t l = 0; l < m.layer_count(); ++l)
        layers.push_back(layer_adapters_in(m, recipe, flat.narrow(0, l * of_layer, of_layer)));
    return layers;
}

void adapter_forward(const AdapterGroup& group, double scale, const at::Tensor& x, at::Tensor y,
                     at::Tensor inner) {
    at::addmm_out(inner, inner, x, group.a.t(), 0, scale);
    int64_t at = 0;
    for (const AdapterGroup::Part& p : group.parts) {
        const int64_t r = p.b.size(1);
        y.narrow(1, p.first, p.size).addmm_(inner.narrow(1, at, r), p.b.t());
        at += r;
    }
}

void adapter_backward(const AdapterGroup& group, double scale, const at::Tensor& x, const at::Tensor& d_y,
                      at::Tensor d_x, const AdapterGroup& sums, at::Tensor inner, at::Tensor d_inner) {
    at::addmm_out(inner, inner, x, group.a.t(), 0, scale);
    int64_t at = 0;
    for (size_t i = 0; i < group.parts.size(); ++i) {
        const AdapterGroup::Part& p = group.parts[i];
        const int64_t r = p.b.size(1);
        const at::Tensor d = d_y.narrow(1, p.first, p.size);
        at::Tensor d_part = d_inner.narrow(1, at, r);
        at::addmm_out(d_part, d_part, d, p.b, 0, scale);
        add_product(sums.parts[i].b, d, inner.narrow(1, at, r));
        at += r;
    }
    add_product(sums.a, d_inner, x);
    d_x.addmm_(d_inner, group.a);
}

}  // namespace headroom::engine
