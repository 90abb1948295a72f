#include "experiments/datasets/image_dataset.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/text.h"
#include "engine/data/images/cifar_file.h"
#include "engine/data/images/idx_file.h"
#include "experiments/datasets/find_file.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// The files of a form, read one after the other.
struct ImageFiles {
    const CatalogueEntry& entry;
    fs::path base_folder;
    std::string hashes;  // of the files read so far

    struct Content {
        fs::path path;
        std::string bytes;
    };

    Content read(const CatalogueFile& file) {
        const auto path = look_for_data_file(file.path, base_folder);
        if (!path)
            throw Error(ErrorKind::data, fmt::format("{} of data set {} is missing", file.path, entry.name),
                        entry.supply.empty() ? fmt::format("deft data get {}", entry.name) : entry.supply);
        Content content{*path, read_text_file(*path)};
        const std::string found = sha256(content.bytes);
        if (file.sha256 != "unknown" && found != file.sha256)
            throw Error(ErrorKind::io,
                        fmt::format("{} has hash {}..., and {}... is expected of {}", path->string(), short_hash(found),
                                    short_hash(file.sha256), file.path),
                        "delete the file, and get it again");
        hashes += found;
        return content;
    }

    // Images of file f, and of the next file of labels where its format has one.
    engine::ImageSet read_images(const CatalogueForm& form, std::size_t f) {
        const Content images = read(form.files[f]);
        if (form.reader != "idx")
            return engine::read_cifar(
                engine::image_file(images.path, images.bytes),
                form.reader == "cifar10" ? engine::CifarFormat::cifar10 : engine::CifarFormat::cifar100);
        const Content labels = read(form.files[f + 1]);
        return engine::read_idx(engine::image_file(images.path, images.bytes),
                                engine::image_file(labels.path, labels.bytes), entry.classes);
    }
};

// Test images must have the training images' size.
void require_one_kind(const CatalogueEntry& entry, const ImageDataset& dataset) {
    const engine::ImageSet &a = dataset.training, &b = dataset.testing;
    if (a.channels != b.channels || a.height != b.height || a.width != b.width)
        throw Error(ErrorKind::data,
                    fmt::format("the training images of {} are {} x {} x {}, and its test images {} x {} x {}",
                                entry.name, a.channels, a.height, a.width, b.channels, b.height, b.width),
                    "supply the files of one data set");
    if (a.height != entry.height || a.width != entry.width || a.channels != entry.channels ||
        a.classes != entry.classes)
        throw Error(
            ErrorKind::config,
            fmt::format("the entry of {} is of images {} x {} x {} in {} classes, and its files of {} x {} x {} in {}",
                        entry.name, entry.height, entry.width, entry.channels, entry.classes, a.height, a.width,
                        a.channels, a.classes),
            "correct them in the catalogue, or supply the files of this data set");
}

}  // namespace

ImageDataset read_image_dataset(const CatalogueEntry& entry, std::int64_t test_every, const fs::path& base_folder) {
    if (entry.kind != "images")
        throw Error(ErrorKind::config, fmt::format("data set {} is a {}, and holds no images", entry.name, entry.kind),
                    "deft data list shows the sets of images");
    const CatalogueForm& form = form_at_hand(entry, base_folder);
    ImageFiles files{entry, base_folder, {}};
    ImageDataset dataset;
    dataset.form = form.name;
    const std::size_t files_at_once = form.reader == "idx" ? 2 : 1;
    for (std::size_t f = 0; f < form.files.size(); f += files_at_once)
        append(form.files[f].split == "test" ? dataset.testing : dataset.training, files.read_images(form, f),
               form.files[f].path);
    dataset.sha256 = sha256(files.hashes);
    if (const std::int64_t found = dataset.training.count(); found != form.images)
        throw Error(
            ErrorKind::config,
            fmt::format("form {} of {} has {} images, and its files {}", form.name, entry.name, form.images, found),
            "correct its number in the catalogue, or supply the files of this data set");
    if (form.files.front().split.empty()) {
        const engine::ImageSet all = std::move(dataset.training);
        dataset.training = select(all, test_every, engine::ImagePart::training);
        dataset.testing = select(all, test_every, engine::ImagePart::testing);
    }
    require_one_kind(entry, dataset);
    return dataset;
}

std::optional<CatalogueEntry> image_entry(const DataConfig& data) {
    for (CatalogueEntry& entry : load_catalogue())
        if (entry.kind == "images" && entry.name == data.corpus) return std::move(entry);
    return {};
}

namespace {

bool is_divided(const CatalogueForm& form) {
    return !form.files.front().split.empty();
}

std::string identity_of(const ImageDataset& dataset, const DataConfig& data, const CatalogueForm& form) {
    const std::string division = is_divided(form) ? "as files" : fmt::format("every {}", data.images.test_every);
    return sha256(fmt::format("images of {}, {}, divided {}", dataset.sha256, form.reader, division));
}

// The images of data.corpus, with what names them and their division as their hash.
ImageDataset read_images_of(const DataConfig& data, const std::string& base_folder) {
    const CatalogueEntry entry = catalogue_entry(data.corpus);
    ImageDataset dataset = read_image_dataset(entry, data.images.test_every, base_folder);
    dataset.sha256 = identity_of(dataset, data, form_at_hand(entry, base_folder));
    return dataset;
}

}  // namespace

std::int64_t training_images(const DataConfig& data, const fs::path& base_folder) {
    const CatalogueEntry entry = catalogue_entry(data.corpus);
    const CatalogueForm& form = form_at_hand(entry, base_folder);
    return is_divided(form) ? form.images : form.images - form.images / data.images.test_every;
}

DatasetIdentity image_identity(const DataConfig& data, const std::string& base_folder) {
    return {read_images_of(data, base_folder).sha256, 0};
}

ImageDataset load_image_dataset(const DataConfig& data, const std::string& base_folder) {
    ImageDataset dataset = read_images_of(data, base_folder);
    require_planned(data, dataset.sha256);
    return dataset;
}

}  // namespace deft::experiments
