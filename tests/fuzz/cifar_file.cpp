// engine/data/images/cifar_file.h: the first byte's lowest bit says CIFAR-100, else CIFAR-10

#include "engine/data/images/cifar_file.h"

#include "tests/fuzz/target.h"

using namespace deft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const auto format = (data[0] & 1) != 0 ? engine::CifarFormat::cifar100 : engine::CifarFormat::cifar10;
    const std::string bytes(fuzz::view(data + 1, size - 1));
    return fuzz::read_or_refuse([&] {
        const engine::ImageSet set = engine::read_cifar(engine::image_file("batch", bytes), format);
        if (set.count() * set.image_pixels() != static_cast<std::int64_t>(set.pixels.size()) || set.count() < 1)
            throw std::logic_error("pixels lost");
        fuzz::touch(set.image(set.count() - 1).data(), static_cast<std::size_t>(set.image_pixels()));
        for (const std::int32_t label : set.labels)
            if (label < 0 || label >= set.classes) throw std::logic_error("a label outside the classes");
    });
}

std::vector<std::string> fuzz::seeds() {
    const std::string pixels(3 * 32 * 32, 'x');
    return {'\0' + std::string{9} + pixels, '\0' + std::string{0} + pixels + std::string{3} + pixels,
            '\1' + std::string{19, 99} + pixels, '\1' + std::string{4, 0} + pixels + std::string{0, 50} + pixels};
}
