// engine/data/images/idx_file.h: the images, then their labels

#include "engine/data/images/idx_file.h"

#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto files = fuzz::split(fuzz::view(data, size), 2);
    const std::string images(files[0]), labels(files[1]);
    return fuzz::read_or_refuse([&] {
        const engine::ImageSet set =
            engine::read_idx(engine::image_file("images", images), engine::image_file("labels", labels), 10);
        if (set.count() * set.image_pixels() != static_cast<std::int64_t>(set.pixels.size()) || set.count() < 1)
            throw std::logic_error("pixels lost");
        fuzz::touch(set.image(set.count() - 1).data(), static_cast<std::size_t>(set.image_pixels()));
        for (const std::int32_t label : set.labels)
            if (label < 0 || label >= set.classes) throw std::logic_error("a label outside the classes");
        (void)engine::channel_statistics(set);
        fuzz::read_or_refuse([&] { (void)engine::select(set, 2, engine::ImagePart::testing); });
    });
}

std::vector<std::string> fuzz::seeds() {
    const std::string two_images{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    const std::string two_labels{0, 0, 8, 1, 0, 0, 0, 2, 9, 0};
    const std::string wide_image = std::string{0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0} + std::string(256, 'x');
    return {join({two_images, two_labels}), join({wide_image, {0, 0, 8, 1, 0, 0, 0, 1, 5}})};
}
