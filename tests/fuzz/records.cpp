// experiments/evaluation/records.h: the first byte says the format and what is done with the records

#include "experiments/evaluation/records.h"

#include "base/json.h"
#include "tests/fuzz/target.h"

using namespace deft;

namespace {

constexpr const char* kPreparations[] = {"", "race", "record", "wsc"};

// format + 5 * (preparation + 4 * (unnested from qas))
char how(int format, int preparation, bool unnested) {
    return static_cast<char>(format + 5 * (preparation + 4 * (unnested ? 1 : 0)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    experiments::RecordSource source;
    source.format = EnumNames<experiments::RecordFormat>::all[data[0] % 5].value;
    source.prepare = kPreparations[data[0] / 5 % 4];
    if (data[0] / 20 % 2 == 1) source.unnest = {"qas"};
    source.columns = {"a", "b"};
    return fuzz::read_or_refuse([&] {
        const std::string text(fuzz::view(data + 1, size - 1));
        for (const experiments::Record& record : experiments::parse_records(source, text, "x").items) {
            if (!record.fields.is_object()) throw std::logic_error("a record that is not an object");
            record.fields.dump();  // throws for invalid UTF-8
        }
    });
}

std::vector<std::string> fuzz::seeds() {
    return {
        how(0, 0, true) + std::string("{\"t\": 1, \"qas\": [{\"q\": \"\\u00e9\"}, 2]}\n\n{\"qas\": []}"),
        how(1, 0, false) + std::string("[{\"a\": true}, {\"b\": [null, {}]}]"),
        how(2, 0, false) + std::string("a\tb\r\n\"c\t\n"),
        how(3, 0, false) + std::string("one\n\ntwo"),
        how(4, 0, false) + std::string(" \n = One = \n \n = = Two = = \n x @-@ y \n = Three = \n z"),
        how(0, 1, false) + std::string("{\"article\": \"A\", \"questions\": [\"a  _  .\", \"b\"], \"options\": "
                                       "[[\"c\", \"d\"], [\"e\"]], \"answers\": [\"B\", \"A\"]}"),
        how(0, 2, true) +
            std::string("{\"passage\": {\"text\": \"Al b\\u00e9\\n@highlight\\nc\", \"entities\": [{\"start\": 3, "
                        "\"end\": 4}]}, \"qas\": [{\"query\": \"@placeholder\", \"answers\": [{\"text\": \"b\"}]}]}"),
        how(0, 3, false) + std::string("{\"text\": \"Al said he did n't .\", \"target\": {\"span2_index\": 2, "
                                       "\"span2_text\": \"he\"}}")};
}
