// packing: packs and batches ahead of the stream conversion, and the helper operations of dsv4.
#include <algorithm>

#include "shared/layout/deepseek_v4.h"
#include "shared/layout/packing.h"
#include "tests/golden/cp/golden_cp.h"

namespace ringwright::golden {
namespace {

using nlohmann::json;
using Lengths = std::vector<int64_t>;

constexpr int64_t kIgnoredLabel = -100;

struct Rows {
  json input_ids = json::array(), labels = json::array(), position_ids = json::array();
};

// One packed row: slots filled from the documents that `items` holds.
void append_row(Rows& rows, const json& items, const std::vector<size_t>& documents, const Lengths& real, const Lengths& slots, int64_t padding_id) {
  json ids = json::array(), labels = json::array(), positions = json::array();
  for (const layout::PackedSlot& slot : layout::packed_slots(real, slots)) {
    const json& item = items.at(documents[static_cast<size_t>(slot.document)]);
    const bool token = slot.offset >= 0;
    ids.push_back(token ? item.at("input_ids").at(static_cast<size_t>(slot.offset)) : json(padding_id));
    labels.push_back(token && item.contains("labels") ? item.at("labels").at(static_cast<size_t>(slot.offset)) : json(kIgnoredLabel));
    positions.push_back(slot.position);
  }
  rows.input_ids.push_back(ids);
  rows.labels.push_back(labels);
  rows.position_ids.push_back(positions);
}

Lengths lengths_of(const json& items) {
  Lengths lengths;
  for (const json& item : items) lengths.push_back(static_cast<int64_t>(item.at("input_ids").size()));
  return lengths;
}

json tensor(const std::vector<Lengths>& rows) {
  json data = json::array();
  for (const Lengths& row : rows) {
    for (int64_t value : row) data.push_back(value);
  }
  return {{"dtype", "int64"}, {"shape", {rows.size(), rows.empty() ? 0 : rows.front().size()}}, {"data", data}};
}

json tensor(const json& rows) {
  std::vector<Lengths> values;
  for (const json& row : rows) values.push_back(row.get<Lengths>());
  return tensor(values);
}

}  // namespace

void check_pack_dataset(const json& golden) {
  const json &params = golden.at("params"), &samples = golden.at("input").at("samples"), &expect = golden.at("expect");
  const layout::PackingOptions options{.algorithm = "concatenative",
                                       .pack_length = params.at("packed_sequence_size"),
                                       .document_divisor = layout::document_divisor(params.at("cp"), 1, false)};
  // What a run leaves out when it reads its data (ringwright.packing.skip_long), and how many packs a caller takes, are not the packer's to know.
  Lengths lengths = lengths_of(samples);
  const int64_t longest = layout::longest_document_of_pack(options.pack_length, options.document_divisor);
  if (params.at("drop_long_samples")) std::replace_if(lengths.begin(), lengths.end(), [&](int64_t length) { return length > longest; }, 0);
  const auto pack = [&] { return layout::pack_documents(lengths, options); };
  // The recorded quirk: a pack size that is no multiple of 2*cp; the contract refuses it.
  static const json bad_argument = {{"class", "ValueError"}};
  if (expect.contains("error") || golden.contains("quirk"))
    return expect_error(expect.contains("error") ? expect.at("error") : bad_argument, {.bad_argument = {"RW-PACK-"}}, pack);
  Rows rows;
  json real = json::array(), slots = json::array();
  std::vector<layout::Pack> packs = pack();
  if (!params.at("max_packs").is_null()) packs.resize(std::min<size_t>(packs.size(), params.at("max_packs").get<size_t>()));
  for (const layout::Pack& each : packs) {
    append_row(rows, samples, each.documents, each.real_lengths, each.slot_lengths, params.at("padding_idx"));
    real.push_back(each.real_lengths);
    slots.push_back(each.slot_lengths);
  }
  expect_equal(
      "packs",
      {{"input_ids", rows.input_ids}, {"labels", rows.labels}, {"position_ids", rows.position_ids}, {"seq_lens", real}, {"seq_lens_padded", slots}},
      expect.at("packs"));
}

void check_thd_collate(const json& golden) {
  const json& items = golden.at("input").at("items");
  const json& expect = golden.at("expect").at("batch");
  const bool packed = items.at(0).contains("seq_lens");
  Rows rows;
  layout::RowLengths lengths;
  if (packed) {
    std::vector<Lengths> real, slots;
    for (const json& item : items) {
      real.push_back(item.at("seq_lens").get<Lengths>());
      slots.push_back(item.at("seq_lens_padded").get<Lengths>());
      rows.input_ids.push_back(item.at("input_ids"));
      rows.labels.push_back(item.at("labels"));
      rows.position_ids.push_back(item.at("position_ids"));
    }
    lengths = layout::filled_lengths(real, slots);
  } else {
    Lengths attended;
    for (const json& item : items) {
      const json& mask = item.contains("attention_mask") ? item.at("attention_mask") : json::array();
      int64_t count = 0;
      for (const json& flag : mask) count += flag.get<int64_t>();
      attended.push_back(mask.empty() ? static_cast<int64_t>(item.at("input_ids").size()) : count);
    }
    lengths = layout::loose_row_lengths(attended, lengths_of(items));
    for (size_t b = 0; b < items.size(); ++b) {
      const Lengths whole = {static_cast<int64_t>(items.at(b).at("input_ids").size())};
      append_row(rows, items, {b}, whole, lengths.slots[b], 0);
    }
  }
  expect_equal("batch",
               {{"input_ids", tensor(rows.input_ids)},
                {"labels", tensor(rows.labels)},
                {"position_ids", tensor(rows.position_ids)},
                {"seq_lens", tensor(lengths.real)},
                {"seq_lens_padded", tensor(lengths.slots)},
                {"qkv_format", "thd"}},
               expect);
}

void check_pack_features(const json& golden) {
  const json &items = golden.at("input").at("items"), &expect = golden.at("expect");
  const auto pack = [&] { return layout::pack_whole(lengths_of(items)); };
  if (expect.contains("error")) return expect_error(expect.at("error"), {.bad_argument = {"RW-PACK-"}}, pack);
  const layout::Pack whole = pack();
  Rows rows;
  append_row(rows, items, whole.documents, whole.real_lengths, whole.slot_lengths, 0);
  expect_equal("record",
               {{"input_ids", rows.input_ids.at(0)},
                {"labels", rows.labels.at(0)},
                {"position_ids", rows.position_ids.at(0)},
                {"seq_lens", whole.real_lengths},
                {"seq_lens_padded", whole.slot_lengths}},
               expect.at("record"));
}

void check_dsv4_local_seq_multiple(const json& golden) {
  const json& ratios = golden.at("params").at("compress_ratios");
  expect_equal("value", layout::deepseek_v4_multiple(ratios.is_null() ? Lengths{} : ratios.get<Lengths>()), golden.at("expect").at("value"));
}

void check_dsv4_packed_seq_ids(const json& golden) {
  const json& given = golden.at("input").at("seq_lens_padded");
  std::vector<Lengths> rows;
  if (given.at(0).is_array()) {
    rows = given.get<std::vector<Lengths>>();
  } else {
    rows = {given.get<Lengths>()};
  }
  expect_equal("value", tensor(layout::packed_sequence_ids(rows, golden.at("params").at("seq_len"))), golden.at("expect").at("value"));
}

}  // namespace ringwright::golden
