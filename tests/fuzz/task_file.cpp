// experiments/evaluation/task.h: a task file, and the requests that it makes of records

#include "experiments/evaluation/prompt.h"
#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::string_view> parts = fuzz::split(fuzz::view(data, size), 2);
    return fuzz::read_or_refuse([&] {
        const experiments::Task task = experiments::parse_task(std::string(parts[0]), "x.toml", ".");
        if (task.kind == experiments::TaskKind::perplexity || task.shots > 100 || experiments::is_labelled(task.kind))
            return;
        const auto records = experiments::parse_records(task.records, std::string(parts[1]), "x.jsonl");
        for (const experiments::Document& document : experiments::make_documents(task, records, nullptr, 4))
            if (document.gold >= document.requests.size()) throw std::logic_error("no right answer");
    });
}

std::vector<std::string> fuzz::seeds() {
    const std::string head = "name = \"n\"\nversion = \"1\"\nsplit = \"s\"\nshots = 1\nfew_shot_version = \"f\"\n";
    const std::string choice =
        head +
        "kind = \"multiple_choice\"\nmetrics = [\"acc\", \"acc_all\"]\nheadline = \"acc_all\"\n"
        "[records]\nfile = \"f\"\nformat = \"jsonl\"\nunnest = [\"qs\"]\nwhere = \"id\"\nequals = [1, 2]\nsort_by = "
        "\"t\"\n"
        "[prompt]\ntext = [\"{t|strip} {qs.q|before_blank}a\", \"{{{l.0}}}\"]\nchoices = [\"{qs.a}\", \"no\"]\n"
        "gold = \"qs.g\"\ngold_values = [true, false]\nprediction = \"first_if_greater\"\ngroup = \"{id}\"\n";
    const std::string records =
        "{\"id\": 1, \"t\": \" b\", \"l\": [3], \"qs\": [{\"q\": \"x _\", \"a\": \"yes\", \"g\": true}]}\n"
        "{\"id\": 2, \"t\": \"a\", \"l\": [\"z\"], \"qs\": [{\"q\": \"_\", \"a\": \"1\", \"g\": false}]}\n";
    const std::string answers =
        head +
        "kind = \"short_answer\"\nmetrics = [\"acc\"]\n[records]\nfile = \"f\"\nformat = \"jsonl\"\n"
        "[prompt]\ntext = \"{q}\"\nanswers = \"a\"\nanswer = \"{a.0}\"\n";
    const std::string listed =
        head +
        "kind = \"multiple_choice\"\nmetrics = [\"f1\"]\n[records]\nfile = \"f\"\nformat = \"jsonl\"\n"
        "[prompt]\ntext = \"t\"\nchoice_list = \"l\"\nchoice = \"{choice.e}\"\nanswers = \"a\"\nanswer = "
        "\"{choice.e}\"\n";
    const std::string words = head +
                              "kind = \"last_word\"\nmetrics = [\"acc\"]\n[records]\nfile = \"f\"\nformat = \"tsv\"\n"
                              "columns = [\"a\", \"b\"]\nheader = true\n[prompt]\ntext = \"{a}\"\ntarget = \"{b}\"\n";
    const std::string labelled =
        head.substr(0, head.find("shots")) +
        "kind = \"classification\"\nmetrics = [\"mcc\"]\n[train]\nfile = \"t\"\nformat = \"jsonl\"\n[records]\nfile = "
        "\"f\"\nformat = \"jsonl\"\n[[further_splits]]\nsplit = \"g\"\nfile = \"h\"\nformat = \"jsonl\"\n"
        "[texts]\nfirst = \"{a}\"\nlabel = \"l\"\nlabels = [false, \"1\"]\n";
    return {
        join({choice, records}),
        join({answers, "{\"q\": \"1\", \"a\": [\"x\", \"xy\"]}\n{\"q\": \"2\", \"a\": [\"z\"]}\n"}),
        join(
            {listed,
             "{\"l\": [{\"e\": \"x\"}, {\"e\": \"y\"}], \"a\": [\"y\"]}\n{\"l\": [{\"e\": \"q\"}], \"a\": [\"q\"]}\n"}),
        join({words, "a\tb\nc\td\ne\tf\n"}), join({labelled, ""})};
}
